// Attacks through what processes share besides files and sockets: keyrings, System V and POSIX objects.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

Report read_session_key(const Arguments& args) {
  const char* name = args.at(0).c_str();
  long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", name, 0);
  const int error = errno;
  if (key < 0) key = syscall(SYS_request_key, "user", name, nullptr, 0);
  if (key >= 0) {
    char text[128] = {};
    if (syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text - 1) < 0) return escaped("found the key");
    return escaped("read the key: " + printable(text));
  }
  if (slurp("/proc/keys", 1 << 20).find(name) != std::string::npos)
    return escaped("/proc/keys lists the key");
  return held_by_errno("keyctl and request_key", error);
}

Report plant_session_key(const Arguments& args) {
  const std::string name = args.at(0) + "-planted";
  if (syscall(SYS_add_key, "user", name.c_str(), "tampered", 8, KEY_SPEC_SESSION_KEYRING) >= 0) {
    return escaped("planted a key");
  }
  return held_by_errno("add_key");
}

Report list_keys(const Arguments& args) {
  if (slurp("/proc/keys", 1 << 20).find(args.at(0)) != std::string::npos)
    return escaped("/proc/keys lists the key");
  return held("/proc/keys does not list it");
}

key_t key_of(const Arguments& args) { return static_cast<key_t>(strtol(args.at(0).c_str(), nullptr, 10)); }
int id_of(const Arguments& args) { return atoi(args.at(1).c_str()); }

Report read_shared_memory(const Arguments& args) {
  int error = 0;
  for (const int id : {shmget(key_of(args), 0, 0), id_of(args)}) {
    void* memory = shmat(id, nullptr, 0);
    if (memory == reinterpret_cast<void*>(-1)) {
      error = errno;
      continue;
    }
    if (strstr(static_cast<const char*>(memory), args.at(2).c_str()) == nullptr) continue;
    strcpy(static_cast<char*>(memory), "tampered");
    return escaped("read and changed the segment");
  }
  return held_by_errno("shmget and shmat", error);
}

Report use_semaphore(const Arguments& args) {
  int error = 0;
  for (const int id : {semget(key_of(args), 0, 0), id_of(args)}) {
    sembuf post = {0, 1, IPC_NOWAIT};
    if (semop(id, &post, 1) == 0) return escaped("raised the semaphore");
    error = errno;
  }
  return held_by_errno("semget and semop", error);
}

Report take_message(const Arguments& args) {
  struct {
    long type;
    char text[128];
  } message{};
  int error = 0;
  for (const int id : {msgget(key_of(args), 0), id_of(args)}) {
    if (msgrcv(id, &message, sizeof message.text, 0, IPC_NOWAIT | MSG_NOERROR) > 0) {
      return escaped("took the message " + printable(message.text));
    }
    error = errno;
  }
  return held_by_errno("msgget and msgrcv", error);
}

Report list_system_v(const Arguments& args) {
  for (const char* path : {"/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"}) {
    if (slurp(path, 1 << 20).find(args.at(0)) != std::string::npos)
      return escaped(std::string(path) + " lists it");
  }
  return held("the host's objects are not listed");
}

Report open_message_queue(const Arguments& args) {
  const mqd_t queue = mq_open(args.at(0).c_str(), O_RDWR);
  if (queue < 0) return held_by_errno("mq_open");
  if (mq_send(queue, "tampered", 8, 0) == 0) return escaped("sent to the host's queue");
  return escaped("opened the host's queue");
}

Report open_shared_memory(const Arguments& args) {
  const int fd = shm_open(args.at(0).c_str(), O_RDWR, 0);
  if (fd < 0) return held_by_errno("shm_open");
  if (write(fd, "tampered", 8) == 8) return escaped("wrote to the host's shared memory");
  return escaped("opened the host's shared memory");
}

Report open_named_semaphore(const Arguments& args) {
  sem_t* semaphore = sem_open(args.at(0).c_str(), 0);
  if (semaphore == SEM_FAILED) return held_by_errno("sem_open");
  sem_post(semaphore);
  return escaped("raised the host's named semaphore");
}

}  // namespace

Attacks ipc_attacks() {
  return {
      {"read-session-key", "keys in the caller's session keyring cannot be read", read_session_key},
      {"plant-session-key", "no key can be planted in the caller's keyrings", plant_session_key},
      {"list-keys", "the caller's keys are not listed", list_keys},
      {"read-shared-memory", "System V segments of the host cannot be attached", read_shared_memory},
      {"use-semaphore", "System V semaphores of the host cannot be used", use_semaphore},
      {"take-message", "System V messages of the host cannot be taken", take_message},
      {"list-system-v", "System V objects of the host are not listed", list_system_v},
      {"open-message-queue", "POSIX queues of the host cannot be opened", open_message_queue},
      {"open-shared-memory", "POSIX shared memory of the host cannot be opened", open_shared_memory},
      {"open-named-semaphore", "POSIX semaphores of the host cannot be opened", open_named_semaphore},
  };
}

}  // namespace cloche::escape
