// The names of the jail's steps, and what to do when one fails. The supervisor prints them; the jail only
// sends numbers.
#include <cerrno>

#include "jail/core/wire.hpp"

namespace cloche::wire {

const char* name_of(Step step) {
  switch (step) {
    case Step::read_plan: return "read the plan";
    case Step::join_cgroup: return "join the cgroup";
    case Step::drop_groups: return "drop supplementary groups";
    case Step::session_keyring: return "join a new session keyring";
    case Step::clone_source: return "clone a source tree";
    case Step::check_source: return "check that a source is still what was judged";
    case Step::map_owner: return "map the owner of a source";
    case Step::namespaces: return "create the namespaces";
    case Step::map_ids: return "map user and group ids";
    case Step::become_ids: return "take the sandbox's ids";
    case Step::hostname: return "set the host name";
    case Step::loopback: return "bring up the loopback interface";
    case Step::open_listeners: return "open the network's listeners";
    case Step::root_mount: return "mount an empty root";
    case Step::make_target: return "make a mount point";
    case Step::mount_tree: return "set the attributes of a tree";
    case Step::mount_overlay: return "mount a layer for the command's writes over a tree";
    case Step::watch_overlay: return "watch for the end of a layer";
    case Step::mount_tmpfs: return "mount a tmpfs";
    case Step::mount_proc: return "mount /proc";
    case Step::mount_pts: return "mount /dev/pts";
    case Step::mount_queues: return "mount /dev/mqueue";
    case Step::write_text: return "write a file of the view";
    case Step::make_link: return "make a link of the view";
    case Step::place_mount: return "place a mount";
    case Step::pivot: return "pivot to the new root";
    case Step::leave_old_root: return "leave the old root";
    case Step::seal_root: return "make the root read-only";
    case Step::working_directory: return "enter the working directory";
    case Step::terminal: return "make a terminal";
    case Step::limits: return "set resource limits";
    case Step::capabilities: return "drop capabilities";
    case Step::no_new_privileges: return "forbid new privileges";
    case Step::parent_death: return "bind to the supervisor's life";
    case Step::landlock: return "restrict by Landlock";
    case Step::seccomp: return "install the system call filter";
    case Step::start_command: return "start the command";
    case Step::start_box: return "start the box";
    case Step::begin_with_still_view: return "find the prepared view in the plan";
  }
  return "unknown step";
}

const char* hint_for(Step step, int number) {
  switch (step) {
    case Step::namespaces:
      if (number == ENOSPC) return "no more user namespaces: raise /proc/sys/user/max_user_namespaces";
      if (number == EPERM || number == EACCES) {
        // What can be seen of the cause is said in its place: confine/native/probe.hpp.
        return "the kernel does not say why: it allows none in a chroot, and a seccomp filter or a security "
               "module around Cloche may forbid them";
      }
      return "the kernel needs user, mount, pid, net, ipc, uts and cgroup namespaces";
    case Step::session_keyring:
      return number == EDQUOT
                 ? "this user has as many keys as the kernel allows: run fewer commands at once, "
                   "or raise it with sysctl kernel.keys.maxkeys"
                 : "";
    case Step::check_source: return "it was replaced while the call was being set up: run it again";
    case Step::mount_overlay:
      return number == EROFS
                 ? "the kernel took the layer as read-only, so the file system cannot hold one: --live "
                   "writes without it"
                 : "this file system or kernel cannot hold a layer for writes, or something is mounted below "
                   "the tree: --live writes without it";
    case Step::watch_overlay:
      return number == EMFILE ? "this user watches as much as the kernel allows: raise "
                                "/proc/sys/fs/inotify/max_user_instances"
                              : "";
    case Step::mount_proc:
      return "the host's own /proc is partly covered (a container?), so the kernel gives no fresh one: run "
             "outside it, "
             "or unmask /proc there";
    case Step::map_owner:
      return "the filesystem of this source cannot be idmapped on this kernel: run as its owner instead of "
             "root";
    case Step::working_directory:
      return number == ESTALE ? "it is another directory than the one that was judged: run it again"
                              : "name a directory inside the view with -C";
    case Step::landlock: return "the kernel needs Landlock: boot with lsm=landlock,... (Linux 5.19 or newer)";
    case Step::seccomp: return "the kernel needs CONFIG_SECCOMP_FILTER";
    case Step::make_target: return "the target of --ro or --rw must exist when it lies in a tree of the host";
    case Step::start_command:
      return number == EAGAIN ? "the process limit is too small to start anything: raise --pids" : "";
    default: return "";
  }
}

}  // namespace cloche::wire
