// Rows about sockets, privileges, mounts, namespaces and the kernel's surface.
#include <sys/socket.h>

#include "escape/cases.hpp"

namespace cloche::test {
namespace {

const char* const only_root_may = "the kernel refuses this to an ordinary user even without Cloche";

std::function<void(Stage&)> with_arguments(std::vector<std::string> arguments) {
  return [arguments](Stage& stage) { stage.arguments = arguments; };
}

void host_mounts(Stage& stage) { stage.arguments = {namespace_link("mnt")}; }

Cases namespace_cases() {
  Cases all;
  for (const std::string kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"}) {
    const std::string title = std::string(1, static_cast<char>(kind[0] - 'a' + 'A')) + kind.substr(1);
    all.push_back({"Unshare" + title, "unshare-namespace", with_arguments({kind})});
    all.push_back({"CloneThree" + title, "clone3-namespace", with_arguments({kind})});
    if (kind != "time") all.push_back({"Clone" + title, "clone-namespace", with_arguments({kind})});
    if (kind == "user" || kind == "time")
      continue;  // nobody can enter its own again, nor this one with threads
    all.push_back({"Join" + title, "join-namespace",
                   [kind](Stage& stage) {
                     stage.arguments = {kind, std::to_string(stage.start_victim())};
                   },
                   only_root_may});
  }
  all.push_back({"CloneWithHighBits", "clone-namespace-with-high-bits", with_arguments({"net"})});
  return all;
}

Case setting(const std::string& name, const std::string& path) {
  return {"Write" + name,
          "write-kernel-setting",
          with_arguments({path}),
          only_root_may,
          "",
          "the kernel has no " + path};
}

}  // namespace

Cases socket_cases() {
  return {
      {"EveryFamily", "open-every-family"},
      {"EveryInternetProtocol", "open-every-internet-protocol"},
      {"EveryNetlink", "open-every-netlink"},
      {"Vsock", "open-family", with_arguments({"40", "1", "0"}), "", "", "the kernel has no vsock"},
      {"VsockWithHighBits", "open-family-with-high-bits", with_arguments({"40", "1"}), "", "",
       "the kernel has no vsock"},
      {"Alg", "open-family", with_arguments({"38", "5", "0"}), "", "", "the kernel has no AF_ALG"},
      {"Packet", "open-family", with_arguments({"17", "3", "768"}), only_root_may},
      {"Xdp", "open-family", with_arguments({"44", "3", "0"}), only_root_may, "", "the kernel has no AF_XDP"},
      {"RawIcmp", "open-family", with_arguments({"2", "3", "1"}), only_root_may},
      {"RawIcmpSix", "open-family", with_arguments({"10", "3", "58"}), only_root_may, "",
       "the kernel has no IPv6"},
      {"Mptcp", "open-family", with_arguments({"2", "1", "262"}), "", "", "the kernel has no MPTCP"},
      {"HostTcp", "reach-tcp",
       [](Stage& stage) { stage.arguments = {std::to_string(stage.listen_tcp(AF_INET))}; }},
      {"HostTcpSix", "reach-tcp6",
       [](Stage& stage) { stage.arguments = {std::to_string(stage.listen_tcp(AF_INET6))}; }},
      {"HostUdp", "reach-udp", [](Stage& stage) { stage.arguments = {std::to_string(stage.listen_udp())}; }},
      {"HostUnix", "reach-unix-path",
       [](Stage& stage) {
         stage.listen_unix(stage.scene.root() / "agent.sock");
         stage.arguments = {(stage.scene.root() / "agent.sock").string()};
       }},
      {"HostUnixByDots", "reach-unix-path",
       [](Stage& stage) {
         stage.listen_unix(stage.scene.root() / "agent.sock");
         stage.arguments = {"../agent.sock"};
       }},
      {"HostUnixBySymlink", "reach-unix-by-symlink",
       [](Stage& stage) {
         stage.listen_unix(stage.scene.root() / "agent.sock");
         stage.arguments = {(stage.scene.root() / "agent.sock").string()};
       }},
      {"HostAbstract", "reach-unix-abstract",
       [](Stage& stage) {
         stage.listen_abstract("escape-" + stage.token);
         stage.arguments = {"escape-" + stage.token};
       }},
      {"BackDoor", "open-back-door",
       [](Stage& stage) { stage.arguments = {std::to_string(stage.call_back_door())}; }},
      {"Interfaces", "see-interfaces", {}, "", "", "the host has no interface but lo"},
      {"RouteOut", "find-route-out", {}, "", "", "the host has no route out"},
  };
}

Cases privilege_cases() {
  Cases all = {
      {"MountTmpfs", "mount-tmpfs", host_mounts},
      {"MountBind", "mount-bind", host_mounts},
      {"RemountWritable", "remount-writable", host_mounts},
      {"Unmount", "unmount", host_mounts, "mounts of the host are locked in a user namespace"},
      {"PivotRoot", "pivot-root", host_mounts},
      {"OpenFileSystem", "open-file-system", host_mounts},
      {"CloneTree", "clone-tree", host_mounts},
      {"CloneTreeWithAttributes", "clone-tree-with-attributes", host_mounts, "", "",
       "the kernel has no open_tree_attr"},
      {"MoveTree", "move-tree", host_mounts},
      {"MountAttributes", "set-mount-attributes", host_mounts},
      {"ChangeRoot", "change-root", {}, only_root_may},
      {"BecomeAnotherUser", "become-another-user", {}, only_root_may},
      {"BecomeAnotherGroup", "become-another-group", {}, only_root_may},
      {"JoinGroups", "join-groups", {}, only_root_may},
      {"Capabilities", "hold-capabilities"},
      {"NoNewPrivileges", "gain-privileges-by-exec"},
      {"Securebits", "use-securebits"},
      {"RaiseLimits", "raise-limits", {}, only_root_may, "", "root has no CAP_SYS_RESOURCE here"},
      {"SystemSetUidProgram", "run-system-set-uid-program", with_arguments({"/usr/bin/su"}), "",
       "root gains nothing from a set-uid root program"},
      {"MakeDevice", "make-device", {}, only_root_may},
      setting("CorePattern", "/proc/sys/kernel/core_pattern"),
      setting("HostName", "/proc/sys/kernel/hostname"),
      setting("SysrqTrigger", "/proc/sysrq-trigger"),
      setting("LastPid", "/proc/sys/kernel/ns_last_pid"),
      setting("Forwarding", "/proc/sys/net/ipv4/ip_forward"),
      setting("OvercommitMemory", "/proc/sys/vm/overcommit_memory"),
      {"SetHostName", "set-host-name", [](Stage& stage) { stage.arguments = {namespace_link("uts")}; }},
      {"SetClock", "set-clock", {}, only_root_may},
      {"Reboot", "reboot-machine", {}, only_root_may},
      {"Accounting", "switch-accounting", {}, only_root_may, "", "the kernel has no process accounting"},
      {"Swap", "switch-swap", {}, only_root_may},
  };
  const Cases namespaces = namespace_cases();
  all.insert(all.end(), namespaces.begin(), namespaces.end());
  return all;
}

Cases kernel_surface_cases() {
  const char* refused_anyway = "the kernel refuses this even without Cloche";
  return {
      {"Bpf", "call-bpf", {}, only_root_may},
      {"Perf", "call-perf", {}, "", "", "the kernel keeps perf to itself"},
      {"Keyctl", "call-keyctl"},
      {"AddKey", "call-add-key"},
      {"RequestKey", "call-request-key"},
      {"Userfaultfd", "call-userfaultfd"},
      {"IoUring", "call-io-uring", {}, "", "", "io_uring is switched off here"},
      {"InitModule", "call-init-module", {}, only_root_may, "", "the kernel has no modules"},
      {"FinitModule", "call-finit-module", {}, only_root_may, "", "the kernel has no modules"},
      {"Kexec", "call-kexec", {}, only_root_may, "", "the kernel has no kexec"},
      {"Personality", "call-personality"},
      {"PersonalityWithHighBits", "call-personality-with-high-bits"},
      {"ModifyLdt", "call-modify-ldt"},
      {"Iopl", "call-iopl", {}, only_root_may, "", "the kernel has no iopl"},
      {"MemfdSecret", "call-memfd-secret", {}, "", "", "the kernel has no memfd_secret"},
      {"Fanotify", "call-fanotify", {}, "", "", "the kernel has no fanotify"},
      {"Kcmp", "call-kcmp", {}, "", "", "the kernel has no kcmp"},
      {"Quotactl", "call-quotactl", {}, "", "", "the kernel has no quota"},
      {"TraceOwnChild", "trace-own-child"},
      {"ReadOwnChild", "read-own-child"},
      {"ExecuteMemoryFile", "execute-memory-file"},
      {"X32", "call-x32", {}, "", "", "the kernel has no x32"},
      {"Int80", "call-by-int80", {}, "", "", "the kernel has no 32-bit entry"},
      {"Program32", "run-32-bit-program", {}, "", "", "the kernel runs no 32-bit programs"},
      {"UnknownNumbers", "call-unknown-numbers", {}, "", "", refused_anyway},
  };
}

}  // namespace cloche::test
