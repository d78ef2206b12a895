#include "ladder/container.hpp"

#include <unistd.h>

#include <fstream>

namespace cloche::test {
namespace {

constexpr const char* config = R"({
  "ociVersion": "1.0.2",
  "process": {
    "user": {"uid": 0, "gid": 0},
    "args": ["bash", "SCENE/container/script.sh"],
    "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=SCENE/home", "XDG_STATE_HOME=SCENE/state"],
    "cwd": "SCENE/workspace",
    "capabilities": {"bounding": CAPABILITIES, "effective": CAPABILITIES, "permitted": CAPABILITIES}
  },
  "root": {"path": "rootfs", "readonly": true},
  "hostname": "container",
  "mounts": [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
    {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["newinstance", "ptmxmode=0666"]},
    {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
    {"destination": "/var/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
    {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]},
    {"destination": "/etc", "type": "bind", "source": "/etc", "options": ["rbind", "ro"]},
    {"destination": "SOURCE", "type": "bind", "source": "SOURCE", "options": ["rbind", "ro"]},
    {"destination": "BUILT", "type": "bind", "source": "BUILT", "options": ["rbind", "ro"]},
    {"destination": "SCENE", "type": "bind", "source": "SCENE", "options": ["rbind", "rw"]}
  ],
  "linux": {
    "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}]MASKED
    FILTER
  }
})";

constexpr const char* masked = R"(,
    "maskedPaths": ["/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
                    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
                    "/sys/devices/virtual/powercap"],
    "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"])";

// What Docker's own list, which is of what it allows, leaves out of the calls that Cloche makes or a command
// may try.
constexpr const char* filter = R"(,
    "seccomp": {
      "defaultAction": "SCMP_ACT_ALLOW",
      "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
      "syscalls": [
        {"names": [BUILDING "fspick", "keyctl", "add_key", "request_key", "bpf", "perf_event_open",
                   "userfaultfd", "open_by_handle_at", "kexec_load", "init_module", "finit_module", "delete_module",
                   "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "io_uring_setup", "io_uring_enter",
                   "io_uring_register", "kcmp", "process_madvise", "lookup_dcookie", "fanotify_init",
                   "setdomainname", "settimeofday", "clock_settime", "vhangup", "iopl", "ioperm",
                   "mbind", "set_mempolicy", "get_mempolicy", "move_pages", "nfsservctl", "kexec_file_load"],
         "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}NAMESPACES
      ]
    })";

// Of these the calls that build a sandbox, which docs/hosts.md has allowed; with clone's flags.
constexpr const char* building =
    R"("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "mount_setattr", "fsopen",
       "fsconfig", "fsmount", "sethostname", "pidfd_getfd",)";

constexpr const char* capabilities =
    R"(["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID",
        "CAP_SETUID", "CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL",
        "CAP_AUDIT_WRITE"])";

// Docker compares all of these flags with none; here each is a rule that refuses it.
std::string refused_namespaces() {
  std::string rules;
  for (const unsigned flag :
       {0x10000000U, 0x20000000U, 0x00020000U, 0x40000000U, 0x08000000U, 0x04000000U, 0x02000000U}) {
    const std::string value = std::to_string(flag);
    rules +=
        ",\n        {\"names\": [\"clone\"], \"action\": \"SCMP_ACT_ERRNO\", \"errnoRet\": 1, \"args\": "
        "[{\"index\": 0, \"value\": " +
        value + ", \"valueTwo\": " + value + ", \"op\": \"SCMP_CMP_MASKED_EQ\"}]}";
  }
  return rules;
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

}  // namespace

Ran run_in_container(Scene& scene, const std::string& script, const ContainerIs& container) {
  std::string text = config;
  replace_all(text, "MASKED", container.proc_is_masked ? masked : "");
  replace_all(text, "FILTER", container.filtered == Filtered::not_at_all ? "" : filter);
  const bool refuses_namespaces = container.filtered == Filtered::as_docker_does;
  replace_all(text, "BUILDING", refuses_namespaces ? building : "");
  replace_all(text, "CAPABILITIES", capabilities);
  replace_all(text, "NAMESPACES", refuses_namespaces ? refused_namespaces() : "");
  replace_all(text, "SOURCE", CLOCHE_SOURCE_DIR);
  replace_all(text, "BUILT", fs::path(cloche()).parent_path().parent_path());
  replace_all(text, "SCENE", scene.root());
  scene.write("container/config.json", text);
  scene.write("container/script.sh", script);
  const fs::path bundle = scene.root() / "container";
  fs::remove_all(bundle / "rootfs");
  fs::create_directories(bundle / "rootfs");
  for (const char* link : {"bin", "sbin", "lib", "lib64"}) {
    std::error_code there;
    fs::create_directory_symlink(std::string("usr/") + link, bundle / "rootfs" / link, there);
  }
  // As root, whose container this is.
  if (!container.marker.empty()) {
    fs::create_directories((bundle / "rootfs" / container.marker.substr(1)).parent_path());
    std::ofstream(bundle / "rootfs" / container.marker.substr(1));
  }
  static int count = 0;
  const std::string name = "cloche-test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  return run({.argv = {"runc", "--root", bundle / "state", "run", "--bundle", bundle, name}, .cwd = bundle});
}

}  // namespace cloche::test
