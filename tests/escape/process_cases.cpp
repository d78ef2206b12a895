// Rows about secrets, processes, terminals and what processes share.
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "escape/cases.hpp"

namespace cloche::test {
namespace {

void secret_in_environment(Stage& stage) {
  stage.environment = {{"STRIPE_API_KEY", stage.token}, {"HARMLESS_NAME", stage.token}};
  stage.arguments = {stage.token};
}

void victim_as_argument(Stage& stage) {
  stage.arguments = {std::to_string(stage.start_victim()), stage.token};
}

void watched_victim_as_argument(Stage& stage) {
  victim_as_argument(stage);
  stage.watch_victim();
}

// Attacks on the sandbox's own init. The host's is not to be attacked, so the control has a naive one.
void init_as_argument(Stage& stage) {
  stage.control_launcher = {"in-naive-sandbox", stage.token, stage.write_secret().string()};
  stage.arguments = {"1", stage.token};
}

void everybody(Stage& stage) {
  stage.start_victim();
  stage.control_launcher = {"in-naive-sandbox", stage.token, stage.write_secret().string()};
  stage.arguments = {namespace_link("pid"), "@VICTIM@"};
  stage.watch_only_under_cloche([&stage](const Ran&) {
    return processes_with("prop" + std::string(1, '\0') + "victim" + std::string(1, '\0') + stage.token)
                   .empty()
               ? "the victim outside is dead"
               : "";
  });
}

// --- terminals
// -------------------------------------------------------------------------------------------------

bool said(const Ran& ran, const std::string& word) { return ran.out.find(word) != std::string::npos; }

void watch_typing(Stage& stage) {
  stage.watch(
      [](const Ran& ran) { return said(ran, "INJECTED") ? "something was typed into the terminal" : ""; });
}

std::function<void(Stage&)> in_terminal(const std::string& how, std::vector<std::string> arguments,
                                        void (*watcher)(Stage&) = nullptr) {
  return [how, arguments, watcher](Stage& stage) {
    stage.launcher = {"with-terminal", how};
    stage.arguments = arguments;
    if (watcher != nullptr) watcher(stage);
  };
}

void watch_settings(Stage& stage) {
  stage.watch(
      [](const Ran& ran) { return said(ran, "CHANGED") ? "the terminal's settings were changed" : ""; });
}

void watch_screen_for_words(Stage& stage) {
  stage.watch(
      [](const Ran& ran) { return said(ran, "tampered") ? "the terminal shows the attacker's words" : ""; });
}

void watch_screen_for_orders(Stage& stage) {
  stage.watch([](const Ran& ran) -> std::string {
    if (!said(ran, "before") || !said(ran, "after")) return "the plain words are missing";
    for (const char* order : {"\x1b]", "\x1bP", "\x1b_", "\x9d"}) {
      if (said(ran, order)) return "an order reached the terminal";
    }
    return "";
  });
}

// --- keys and System V
// -----------------------------------------------------------------------------------------

void key_in_session(Stage& stage) {
  const std::string name = "escape-" + stage.token;
  stage.launcher = {"with-session-key", name, "secret " + stage.token};
  stage.arguments = {name};
}

void watched_key_in_session(Stage& stage) {
  key_in_session(stage);
  stage.watch([](const Ran& ran) { return said(ran, "PLANTED") ? "a key was planted" : ""; });
}

key_t fresh_key(const Stage& stage) {
  return static_cast<key_t>(strtoul(stage.token.substr(3, 7).c_str(), nullptr, 16) + 1);
}

void segment(Stage& stage) {
  const key_t key = fresh_key(stage);
  const int id = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  char* memory = static_cast<char*>(shmat(id, nullptr, 0));
  if (memory == reinterpret_cast<char*>(-1)) throw std::runtime_error("shmat");
  strcpy(memory, stage.token.c_str());
  stage.keep({nullptr, [id, memory](void*) {
                shmdt(memory);
                shmctl(id, IPC_RMID, nullptr);
              }});
  stage.watch(
      [memory, token = stage.token](const Ran&) { return memory == token ? "" : "the segment was changed"; });
  stage.arguments = {std::to_string(key), std::to_string(id), stage.token};
}

void listed_segment(Stage& stage) {
  const key_t key = fresh_key(stage);
  const int id = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  if (id < 0) throw std::runtime_error("shmget");
  stage.keep({nullptr, [id](void*) { shmctl(id, IPC_RMID, nullptr); }});
  stage.arguments = {std::to_string(key)};
}

void semaphore_set(Stage& stage) {
  const key_t key = fresh_key(stage);
  const int id = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
  if (id < 0) throw std::runtime_error("semget");
  stage.keep({nullptr, [id](void*) { semctl(id, 0, IPC_RMID); }});
  stage.watch([id](const Ran&) { return semctl(id, 0, GETVAL) == 0 ? "" : "the semaphore was changed"; });
  stage.arguments = {std::to_string(key), std::to_string(id)};
}

void system_v_queue(Stage& stage) {
  const key_t key = fresh_key(stage);
  const int id = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
  struct {
    long type;
    char text[64];
  } message = {1, {}};
  strcpy(message.text, stage.token.c_str());
  if (id < 0 || msgsnd(id, &message, sizeof message.text, 0) != 0) throw std::runtime_error("msgsnd");
  stage.keep({nullptr, [id](void*) { msgctl(id, IPC_RMID, nullptr); }});
  stage.watch([id](const Ran&) {
    msqid_ds state{};
    return msgctl(id, IPC_STAT, &state) == 0 && state.msg_qnum == 1 ? "" : "the message was taken";
  });
  stage.arguments = {std::to_string(key), std::to_string(id)};
}

void posix_queue(Stage& stage) {
  const std::string name = "/escape-" + stage.token;
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0666, nullptr);
  if (queue < 0) throw std::runtime_error("mq_open");
  fchmod(queue, 0666);
  stage.keep({nullptr, [queue, name](void*) {
                mq_close(queue);
                mq_unlink(name.c_str());
              }});
  stage.watch([queue](const Ran&) {
    mq_attr state{};
    return mq_getattr(queue, &state) == 0 && state.mq_curmsgs == 0 ? "" : "something was sent to the queue";
  });
  stage.arguments = {name};
}

void posix_memory(Stage& stage) {
  const std::string name = "escape-" + stage.token;
  const fs::path path = "/dev/shm/" + name;
  const int fd = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0666);
  if (fd < 0 || write(fd, stage.token.data(), stage.token.size()) < 0) throw std::runtime_error("shm_open");
  fchmod(fd, 0666);
  close(fd);
  stage.keep({nullptr, [name](void*) { shm_unlink(name.c_str()); }});
  stage.watch([path, token = stage.token](const Ran&) {
    return read_file(path) == token ? "" : "the shared memory was changed";
  });
  stage.arguments = {name};
}

void posix_semaphore(Stage& stage) {
  const std::string name = "/escape-" + stage.token;
  sem_t* semaphore = sem_open(name.c_str(), O_CREAT | O_EXCL, 0666, 0U);
  if (semaphore == SEM_FAILED) throw std::runtime_error("sem_open");
  chmod(("/dev/shm/sem." + name.substr(1)).c_str(), 0666);
  stage.keep({nullptr, [semaphore, name](void*) {
                sem_close(semaphore);
                sem_unlink(name.c_str());
              }});
  stage.watch([semaphore](const Ran&) {
    int value = 0;
    sem_getvalue(semaphore, &value);
    return value == 0 ? "" : "the semaphore was raised";
  });
  stage.arguments = {name};
}

}  // namespace

Cases secret_cases() {
  return {
      {"OwnEnvironment", "search-own-environment", secret_in_environment},
      {"InitEnvironment", "search-init-environment",
       [](Stage& stage) {
         secret_in_environment(stage);
         stage.control_launcher = {"in-naive-sandbox", stage.token, stage.write_secret().string()};
       }},
      {"EveryEnvironment", "search-every-environment",
       [](Stage& stage) {
         secret_in_environment(stage);
         stage.launcher = {"with-parent"};
       }},
      {"EveryCommandLine", "search-every-command-line",
       [](Stage& stage) {
         stage.start_victim();
         stage.arguments = {stage.token};
       }},
      {"MountSources", "search-mount-sources", [](Stage& stage) { stage.arguments = {"/sys/fs/cgroup"}; }, "",
       "", "the host has no cgroup mount"},
      {"KernelLog", "read-kernel-log", {}, "the kernel's log may be root's even without Cloche"},
      {"HostSockets", "watch-host-sockets",
       [](Stage& stage) {
         stage.arguments = {std::to_string(stage.listen_tcp(AF_INET))};
         stage.forget_watchers();
       }},
      {"CoreDump", "dump-core", {}, "", "", "the hard limit on core files is 0 here"},
  };
}

Cases process_cases() {
  return {
      {"SeeProcess", "see-process", victim_as_argument},
      {"SignalProcess", "signal-process", watched_victim_as_argument},
      {"SignalByPidfd", "signal-by-pidfd", watched_victim_as_argument},
      {"SignalEverybody", "signal-everybody", everybody},
      {"StopSupervisor", "stop-supervisor", [](Stage& stage) { stage.launcher = {"with-parent"}; }},
      {"TraceProcess", "trace-process", victim_as_argument},
      {"ReadMemory", "read-memory", victim_as_argument},
      {"WriteMemory", "write-memory", victim_as_argument},
      {"ReadProcMem", "read-proc-mem", victim_as_argument},
      {"StealDescriptor", "steal-descriptor", victim_as_argument},
      {"LimitProcess", "limit-process", victim_as_argument},
      {"RescheduleProcess", "reschedule-process", victim_as_argument},
      {"TraceInit", "trace-process", init_as_argument},
      {"ReadInitMemory", "read-memory", init_as_argument},
      {"WriteInitMemory", "write-memory", init_as_argument},
      {"ReadInitProcMem", "read-proc-mem", init_as_argument},
      {"StealInitDescriptor", "steal-descriptor", init_as_argument},
      {"ReopenInitDescriptors", "reopen-descriptors-of-others", init_as_argument},
      {"LimitInit", "limit-process", init_as_argument},
      {"RealTime", "take-real-time", {}, "priorities are root's to raise"},
      {"OomScore", "dodge-oom-killer"},
  };
}

Cases terminal_cases() {
  const char* no_typing = "the kernel serves TIOCSTI to nobody";
  return {
      {"TypeIntoTerminal", "type-into-terminal", in_terminal("stdio", {"@TTY@"}, watch_typing), "", "",
       no_typing},
      {"TypeIntoControllingTerminal", "type-into-terminal",
       in_terminal("controlling", {"@TTY@"}, watch_typing), "", "", no_typing},
      {"TypeWithHighBits", "type-with-high-bits", in_terminal("stdio", {"@TTY@"}, watch_typing), "", "",
       no_typing},
      {"PasteIntoConsole", "paste-into-console",
       in_terminal("stdio", {"/dev/tty1", "/dev/tty0", "/dev/console"}),
       "consoles are root's even without Cloche", "", "the machine has no virtual console"},
      {"WriteControllingTerminal", "write-controlling-terminal",
       in_terminal("controlling", {}, watch_screen_for_words)},
      {"OpenTerminalByPath", "open-terminal-by-path", in_terminal("stdio", {"@TTY@", "@FOLDER@"})},
      {"CallersTerminal", "own-callers-terminal", in_terminal("stdio", {"@FOLDER@", "@DEVICE@"})},
      {"TerminalSettings", "change-terminal-settings", in_terminal("stdio", {}, watch_settings)},
      {"TerminalOrders", "print-terminal-orders", in_terminal("stdio", {}, watch_screen_for_orders)},
  };
}

Cases ipc_cases() {
  return {
      {"ReadSessionKey", "read-session-key", key_in_session},
      {"PlantSessionKey", "plant-session-key", watched_key_in_session},
      {"ListKeys", "list-keys", key_in_session},
      {"SharedMemory", "read-shared-memory", segment},
      {"Semaphore", "use-semaphore", semaphore_set},
      {"Message", "take-message", system_v_queue},
      {"SystemVListing", "list-system-v", listed_segment},
      {"PosixQueue", "open-message-queue", posix_queue},
      {"PosixSharedMemory", "open-shared-memory", posix_memory},
      {"PosixSemaphore", "open-named-semaphore", posix_semaphore},
  };
}

}  // namespace cloche::test
