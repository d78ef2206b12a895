#include "confine/boxes/oci.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <string_view>

#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "confine/kernel_rules.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

// As container engines have it: of the kernel, and nothing that a command needs.
constexpr std::string_view masked_paths[] = {"/proc/acpi",        "/proc/asound",        "/proc/kcore",
                                             "/proc/keys",        "/proc/latency_stats", "/proc/timer_list",
                                             "/proc/timer_stats", "/proc/sched_debug",   "/proc/scsi"};
constexpr std::string_view readonly_paths[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                               "/proc/sysrq-trigger"};
constexpr uint64_t dev_bytes = 64 << 10;  // nodes and links

// "RLIMIT_NPROC", as the specification has it.
std::string rlimit_name(uint32_t resource) {
  std::string name = "RLIMIT_";
  for (char c : name_of_resource(resource)) name += static_cast<char>(c - 'a' + 'A');
  return name;
}

class Config {
 public:
  Config(const ConfinementPlan& plan, const OciOptions& options) : plan_(plan), options_(options) {}

  Result<std::string> text() {
    out_.begin_object().member("ociVersion", "1.0.2");
    add_process();
    out_.key("root").begin_object();
    out_.member("path", "rootfs").member("readonly", true).end_object();
    out_.member("hostname", wire::sandbox_hostname);
    add_mounts();
    add_linux();
    out_.end_object();
    if (unsayable_) {
      return refusal("the name of " + shown(*unsayable_) +
                         " is not UTF-8, and no OCI bundle can say it: a runtime " +
                         "would take another file for it",
                     "use --isolation namespace (native or bwrap), or rename it");
    }
    return out_.text() + "\n";
  }

 private:
  using Texts = std::vector<std::string>;

  // For every path that the runtime itself has to find.
  const std::string& checked(const std::string& path) {
    if (!unsayable_ && !is_utf8(path)) unsayable_ = path;
    return path;
  }

  void list(std::string_view name, const auto& values) {
    out_.key(name).begin_array();
    for (const auto& value : values) out_.value(value);
    out_.end_array();
  }

  // No descriptor comes out of it: its input and output are a terminal already, which the runner has made.
  bool speechless() const { return options_.kernel == BoxKernel::gvisor; }
  // In gVisor a read-only /dev has no /dev/null that can be written, so the command must not be its owner.
  bool gives_dev_away() const { return options_.kernel == BoxKernel::gvisor && has_dev(plan_); }
  unsigned uid() const { return options_.inside_uid.value_or(plan_.inside_uid); }
  unsigned gid() const { return options_.inside_gid.value_or(plan_.inside_gid); }

  void add_process() {
    out_.key("process").begin_object().member("terminal", plan_.terminal && speechless());
    out_.key("user").begin_object().member("uid", uid()).member("gid", gid()).end_object();
    add_words();
    out_.member("cwd", "/");  // the jail goes to the plan's own, and says so when it is not there
    out_.key("capabilities").begin_object();
    // What the jail needs and gives up with everything else: without the first no process may map the id 0 of
    // a box to another one inside.
    Texts held;
    if (options_.parts.inner.becomes) held.emplace_back("CAP_SETFCAP");
    if (gives_dev_away()) held.emplace_back("CAP_CHOWN");
    for (const std::string_view set : {"bounding", "effective", "inheritable", "permitted", "ambient"})
      list(set, set == "inheritable" || set == "ambient" ? Texts{} : held);
    out_.end_object();
    add_limits();
    out_.member("noNewPrivileges", true).end_object();
  }

  // What only the jail and the command read can be anything: the jail takes it back from what JSON carries.
  void add_words() {
    InnerOptions inner = options_.parts.inner;
    if (gives_dev_away()) inner.given_away = "/dev";
    Texts args = inner_arguments(plan_, inner);
    Texts environment = environment_words(plan_);
    if (!std::all_of(args.begin(), args.end(), is_utf8) ||
        !std::all_of(environment.begin(), environment.end(), is_utf8)) {
      std::transform(args.begin() + 1, args.end(), args.begin() + 1, escaped);
      args.insert(args.begin() + 1, "--escaped");
      std::transform(environment.begin(), environment.end(), environment.begin(), escaped);
    }
    args.insert(args.begin(), jail_inside(plan_));
    list("args", args);
    list("env", environment);
  }

  void add_limits() {
    out_.key("rlimits").begin_array();
    for (const auto& [resource, value] : limits_for(plan_.limits)) {
      // The runtime's own threads would count, and the files it has open while it builds the box: the jail
      // sets these, the first in a user namespace of the command's own. In gVisor no process but the command
      // counts.
      const bool shared = resource == RLIMIT_NPROC || resource == RLIMIT_NOFILE;
      if (shared && options_.kernel == BoxKernel::hosts) continue;
      if (resource == RLIMIT_CPU && options_.parts.inner.processor_by_host) continue;
      const auto highest = options_.highest_limits.find(resource);
      const uint64_t number =
          highest == options_.highest_limits.end() ? value : std::min(value, highest->second);
      out_.begin_object().member("type", rlimit_name(resource));
      out_.member("hard", number).member("soft", number).end_object();
    }
    out_.end_array();
  }

  void add_mount(const std::string& target, std::string_view type, const std::string& source,
                 const Texts& options) {
    out_.begin_object().member("destination", checked(target)).member("type", type);
    out_.member("source", checked(source));
    list("options", options);
    out_.end_object();
  }

  void add_mounts() {
    out_.key("mounts").begin_array();
    if (has_dev(plan_)) {
      Texts options = {"nosuid", "noexec", "mode=0755", "size=" + std::to_string(dev_bytes)};
      // gVisor would refuse to open /dev/null for writing there: see gives_dev_away().
      if (!gives_dev_away()) options.emplace_back("ro");
      add_mount("/dev", "tmpfs", "tmpfs", options);
    }
    for (size_t at = 0; at < plan_.view.size(); ++at) add_entry(plan_.view[at], at);
    add_mount(jail_inside(plan_), "bind", options_.parts.jail, {"bind", "ro", "nosuid", "nodev"});
    if (options_.report) {
      add_mount(report_inside(plan_), "bind", *options_.report, {"bind", "rw", "nosuid", "nodev", "noexec"});
    }
    if (options_.kernel == BoxKernel::gvisor) cover_what_the_sentry_adds();
    out_.end_array();
  }

  // Directories of its own kernel's that no plan has asked for.
  void cover_what_the_sentry_adds() {
    const Texts empty = {"ro", "nosuid", "nodev", "noexec", "mode=0755", "size=4096"};
    const bool has_sys = std::any_of(plan_.view.begin(), plan_.view.end(), [](const ViewEntry& entry) {
      return entry.target == "/sys" || entry.target == "/";
    });
    if (!has_sys) add_mount("/sys", "tmpfs", "tmpfs", empty);
    if (has_dev(plan_)) add_mount("/dev/net", "tmpfs", "tmpfs", empty);
  }

  // Of the host's processors: gVisor's kernel has its own, and nothing can be bound beneath its /sys.
  bool is_of_another_kernel(const ViewEntry& entry) const {
    return options_.kernel == BoxKernel::gvisor && entry.target.starts_with("/sys/");
  }

  void add_entry(const ViewEntry& entry, size_t at) {
    if (lies_in_proc(plan_, entry) || is_shown_by_its_tree(plan_, entry)) return;
    if (is_of_another_kernel(entry)) return;
    switch (entry.kind) {
      case EntryKind::link: return;  // in the root directory, or made by the runtime
      case EntryKind::directory:
        if (!lies_in_root(plan_, entry)) add_memory(entry, holder_of(plan_, entry)->size_bytes);
        return;
      case EntryKind::text:
        if (lies_in_root(plan_, entry)) return;
        return add_mount(entry.target, "bind", source_at(options_.parts.texts, at, ""),
                         {"bind", "ro", "nosuid", "nodev", "noexec"});
      case EntryKind::tree:
        if (!is_made_in_dev(entry)) add_tree(entry, at);
        return;
      case EntryKind::tmpfs:
        if (!is_part_of_root(entry) || !lies_in_root(plan_, entry) || lies_in_fresh_dev(entry) ||
            sentry_fills(entry))
          add_memory(entry, entry.size_bytes);
        return;
      case EntryKind::proc:
        // The jail may have an id map to write there; Landlock is over the command by then.
        return add_mount(entry.target, "proc", "proc",
                         {options_.parts.inner.becomes ? "rw" : "ro", "nosuid", "noexec", "nodev"});
      case EntryKind::terminals:
        return add_mount(entry.target, "devpts", "devpts",
                         {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"});
      case EntryKind::queues:
        return add_mount(entry.target, "mqueue", "mqueue",
                         {may_write(entry.access) ? "rw" : "ro", "nosuid", "noexec", "nodev"});
    }
  }

  // What the root directory has there the runtime covers with a /dev of its own.
  bool lies_in_fresh_dev(const ViewEntry& entry) const {
    return has_dev(plan_) && entry.target.starts_with("/dev/");
  }

  // gVisor puts memory of its own, for every process to write, where a bundle has nothing.
  bool sentry_fills(const ViewEntry& entry) const {
    return options_.kernel == BoxKernel::gvisor && entry.target == "/tmp" &&
           std::none_of(plan_.view.begin(), plan_.view.end(), [&](const ViewEntry& other) {
             return &other != &entry && is_beneath(entry.target, other.target);
           });
  }

  // "ro" is said of the one mount; "rro" also of the host's mounts that come along below it. gVisor has no
  // such words, and needs none: to it the whole tree is one mount.
  void add_tree(const ViewEntry& entry, size_t at) {
    const bool with_below = entry.recursive && options_.kernel == BoxKernel::hosts;
    const std::string prefix = with_below ? "r" : "";
    // Words for a whole tree are added to what each mount has, and those for one replace it.
    const SourceMount below = with_below ? SourceMount{} : mount_of(entry.source);
    const bool writes = (may_write(entry.access) || entry.access == Access::device) && !below.read_only;
    Texts options = {entry.recursive ? "rbind" : "bind"};
    options.push_back(writes ? "rw" : prefix + "ro");
    options.push_back(prefix + "nosuid");
    if (entry.access != Access::device) options.push_back(prefix + "nodev");
    if (!may_run(entry.access) || below.runs_nothing) options.push_back(prefix + "noexec");
    add_mount(entry.target, "bind", source_at(options_.parts.trees, at, entry.source), options);
  }

  SourceMount mount_of(const std::string& source) const {
    const auto found = options_.mounts.find(source);
    return found != options_.mounts.end() ? found->second : SourceMount{};
  }

  void add_memory(const ViewEntry& entry, uint64_t size_bytes) {
    Texts options = {"nosuid", "nodev"};
    if (!may_run(entry.access)) options.emplace_back("noexec");
    if (!may_write(entry.access)) options.emplace_back("ro");
    options.push_back("mode=" + octal(entry.mode));
    options.push_back("size=" + std::to_string(size_bytes));
    options.push_back("nr_inodes=" + std::to_string(files_of_memory(size_bytes)));
    options.push_back("uid=" + std::to_string(uid()));
    options.push_back("gid=" + std::to_string(gid()));
    add_mount(entry.target, "tmpfs", "tmpfs", options);
  }

  void add_linux() {
    out_.key("linux").begin_object();
    Texts namespaces = {"mount", "pid", "ipc", "uts", "cgroup"};
    if (!options_.uids.empty()) {
      namespaces.insert(namespaces.begin(), "user");
      add_mappings("uidMappings", options_.uids);
      add_mappings("gidMappings", options_.gids);
    }
    if (plan_.network == Network::own) namespaces.emplace_back("network");
    out_.key("namespaces").begin_array();
    for (const auto& name : namespaces) out_.begin_object().member("type", name).end_object();
    out_.end_array();
    list("maskedPaths", masked());
    list("readonlyPaths", readonly_paths);
    out_.end_object();
  }

  void add_mappings(std::string_view name, const std::vector<IdMapping>& mappings) {
    out_.key(name).begin_array();
    for (const auto& [inside, outside, count] : mappings) {
      out_.begin_object().member("containerID", inside).member("hostID", outside).member("size", count);
      out_.end_object();
    }
    out_.end_array();
  }

  // The usual ones, and what the plan itself masks in /proc: a runtime takes no mount there.
  std::vector<std::string> masked() {
    Texts paths(std::begin(masked_paths), std::end(masked_paths));
    for (const auto& entry : plan_.view) {
      if (lies_in_proc(plan_, entry) && std::find(paths.begin(), paths.end(), entry.target) == paths.end())
        paths.push_back(checked(entry.target));
    }
    return paths;
  }

  const ConfinementPlan& plan_;
  const OciOptions& options_;
  std::optional<std::string> unsayable_;  // the first path that JSON cannot carry
  JsonWriter out_{JsonWriter::Layout::indented};
};

}  // namespace

Result<std::string> oci_config(const ConfinementPlan& plan, const OciOptions& options) {
  return Config(plan, options).text();
}

std::vector<MissingLayer> oci_missing(const ConfinementPlan& plan, const OciOptions& options) {
  std::vector<MissingLayer> missing;
  const auto lacks = [&](LayerId layer, std::string why, std::string fix) {
    if (requires_layer(plan, layer)) missing.push_back({layer, std::move(why), std::move(fix)});
  };
  const bool maps_root = std::any_of(options.uids.begin(), options.uids.end(),
                                     [](const IdMapping& mapping) { return mapping.outside == 0; });
  if (options.uids.empty() || maps_root) {
    lacks(LayerId::user_ids, "the bundle maps an id of the command to root of the host, or none at all",
          "map ids that no account has");
  }
  if (!plan.hosts.empty()) {
    lacks(LayerId::net_namespace, "a bundle shares the whole network of the host or none of it",
          "leave the network out");
  }
  if (options.parts.inner.landlock_abi < least_landlock_abi)
    lacks(LayerId::landlock, "the plan of the bundle asks for no Landlock",
          "run it by a runtime that shares the host's kernel");
  lacks(LayerId::memory_limit, "without a cgroup the memory of the bundle is not counted",
        "give the bundle a cgroupsPath");
  // gVisor's own kernel counts whichever user the command is.
  const bool as_root = options.uids.empty() || maps_root;
  if (as_root && options.kernel == BoxKernel::hosts)
    lacks(LayerId::process_limit, "the kernel does not count the processes of root",
          "run it as an ordinary user, or give the bundle a cgroupsPath and linux.resources.pids");
  return missing;
}

}  // namespace cloche
