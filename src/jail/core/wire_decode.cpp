#include <cstring>

#include "jail/core/wire.hpp"

namespace cloche::wire {
namespace {

// Takes values off the front of the plan. After the first thing that does not fit, `bad` stays set and every
// further answer is empty, so that the code below reads straight through and checks once.
class Reader {
 public:
  explicit Reader(std::span<const char> bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    T value{};
    if (rest_.size() < sizeof value) return refuse("the plan is cut short"), T{};
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

  Identity identity() {
    const auto device = number<uint64_t>();
    return {device, number<uint64_t>()};
  }

  std::span<const char> bytes() {
    const auto size = number<uint32_t>();
    if (bad_ != nullptr) return {};
    if (rest_.size() <= size) return refuse("a string is cut short"), std::span<const char>{};
    if (rest_[size] != '\0') return refuse("a string does not end"), std::span<const char>{};
    auto value = rest_.first(size);
    rest_ = rest_.subspan(size_t{size} + 1);
    return value;
  }

  // A string that a system call will read: the NUL at its end is the only one.
  const char* text(size_t most) {
    const auto value = bytes();
    if (bad_ != nullptr) return "";
    if (value.size() > most) return refuse("a string is too long"), "";
    if (std::memchr(value.data(), '\0', value.size()) != nullptr) return refuse("a NUL inside a string"), "";
    return value.data();
  }

  size_t count(size_t most) {
    const auto value = number<uint32_t>();
    if (value > most) return refuse("too many elements"), size_t{0};
    return value;
  }

  void refuse(const char* why) {
    if (bad_ == nullptr) bad_ = why;
  }
  const char* bad() const { return bad_; }
  bool finished() const { return rest_.empty(); }
  std::span<const char> rest() const { return rest_; }

 private:
  std::span<const char> rest_;
  const char* bad_ = nullptr;
};

// "usr/lib", never "", "/usr", "a//b", "." or "..": joined to the new root it stays beneath it.
bool is_plain_relative(const char* path) {
  while (true) {
    const char* end = std::strchr(path, '/');
    const size_t length = end != nullptr ? static_cast<size_t>(end - path) : std::strlen(path);
    if (length == 0 || (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.')) {
      return false;
    }
    if (end == nullptr) return true;
    path = end + 1;
  }
}

void read_mount(Reader& in, Mount& mount) {
  const auto kind = in.number<uint32_t>();
  if (kind > last_mount_kind) in.refuse("unknown kind of mount");
  mount.kind = static_cast<MountKind>(kind <= last_mount_kind ? kind : 0);
  mount.flags = in.number<uint32_t>();
  if ((mount.flags & ~all_mount_flags) != 0) in.refuse("unknown mount flag");
  mount.mode = in.number<uint32_t>();
  if ((mount.mode & ~01777U) != 0) in.refuse("a mode with set-id bits");
  mount.owner_uid = in.number<uint32_t>();
  mount.owner_gid = in.number<uint32_t>();
  mount.size_bytes = in.number<uint64_t>();
  mount.files = in.number<uint64_t>();
  mount.judged = in.identity();
  mount.target = in.text(max_path_bytes);
  mount.source = in.text(max_path_bytes);
  mount.content = in.bytes();
  mount.layers = in.text(max_path_bytes);
  mount.judged_layers = in.identity();
  // Whatever lies at another path would take the command's writes, so these are never "any file".
  if (mount.kind == MountKind::overlay && (mount.judged.inode == 0 || mount.judged_layers.inode == 0))
    in.refuse("an overlay of a directory that was not judged");
  if (in.bad() == nullptr && !is_plain_relative(mount.target))
    in.refuse("a mount target that is not beneath the root");
  if (in.bad() == nullptr && mount.kind == MountKind::tmpfs && (mount.size_bytes == 0 || mount.files == 0)) {
    in.refuse("a tmpfs without a size");  // 0 would mean unlimited to the kernel
  }
}

void read_rule(Reader& in, Rule& rule) {
  const auto access = in.number<uint32_t>();
  if (access > last_access) in.refuse("unknown access");
  rule.access = static_cast<Access>(access <= last_access ? access : 0);
  rule.path = in.text(max_path_bytes);
  rule.judged = in.identity();
  if (in.bad() == nullptr && rule.path[0] != '/') in.refuse("a rule for a relative path");
}

void read_listener(Reader& in, Listener& listener) {
  listener.stream = in.number<uint32_t>();
  listener.port = in.number<uint32_t>();
  listener.address = in.number<std::array<uint8_t, 16>>();
  const bool no_port = listener.port == 0 && listener.stream == 0;
  if (no_port || listener.port > 0xffff) in.refuse("a listener without a port");
}

Words read_words(Reader& in, std::span<const char*> room, size_t longest) {
  const size_t count = in.count(room.size() - 1);
  for (size_t i = 0; i < count && in.bad() == nullptr; ++i) room[i] = in.text(longest);
  room[count] = nullptr;
  return room.first(count);
}

}  // namespace

bool read_start(int argc, char** argv, Start& start) {
  if (argc < 2 || argc > static_cast<int>(max_groups) + 2) return false;
  const char* at = argv[1];
  do {
    if (*at < '0' || *at > '9' || start.flags > all_start_flags) return false;
    start.flags = start.flags * 10 + static_cast<uint32_t>(*at - '0');
  } while (*++at != '\0');
  start.groups = {argv + 2, static_cast<size_t>(argc - 2)};
  return (start.flags & ~all_start_flags) == 0;
}

const uint32_t format = CLOCHE_WIRE_FORMAT;

const char* decode(std::span<const char> bytes, Storage& storage, Plan& plan) {
  if (bytes.size() > max_plan_bytes) return "the plan is too long";
  Reader in(bytes);
  if (in.number<uint32_t>() != format) return "this is not a plan of this version";
  plan.flags = in.number<uint32_t>();
  if ((plan.flags & ~all_plan_flags) != 0) in.refuse("unknown plan flag");
  plan.inside_uid = in.number<uint32_t>();
  plan.inside_gid = in.number<uint32_t>();
  plan.outside_uid = in.number<uint32_t>();
  plan.outside_gid = in.number<uint32_t>();
  plan.umask = in.number<uint32_t>() & 0777U;
  plan.landlock_abi = in.number<uint32_t>();
  plan.rows = in.number<uint32_t>();
  plan.columns = in.number<uint32_t>();
  plan.directory = in.text(max_path_bytes);
  plan.judged_directory = in.identity();

  const size_t mounts = in.count(max_mounts);
  const std::span<const char> first_mount = in.rest();
  for (size_t i = 0; i < mounts && in.bad() == nullptr; ++i) read_mount(in, storage.mounts[i]);
  plan.mounts = std::span(storage.mounts).first(mounts);
  plan.mount_bytes = first_mount.first(first_mount.size() - in.rest().size());
  for (size_t i = 1; i < mounts; ++i) {
    if (storage.mounts[i].kind == MountKind::root) in.refuse("a root that is not the first entry");
  }
  const size_t rules = in.count(max_rules);
  for (size_t i = 0; i < rules && in.bad() == nullptr; ++i) read_rule(in, storage.rules[i]);
  plan.rules = std::span(storage.rules).first(rules);
  const size_t limits = in.count(max_limits);
  for (size_t i = 0; i < limits; ++i) {
    storage.limits[i].resource = in.number<uint32_t>();
    storage.limits[i].value = in.number<uint64_t>();
  }
  plan.limits = std::span(storage.limits).first(limits);

  const size_t listeners = in.count(max_listeners);
  for (size_t i = 0; i < listeners; ++i) read_listener(in, storage.listeners[i]);
  plan.listeners = std::span(storage.listeners).first(listeners);

  plan.programs = read_words(in, storage.programs, max_path_bytes);
  std::span<const char*> room = storage.words;
  plan.argv = read_words(in, room.first(room.size() - 1), max_plan_bytes);
  plan.env = read_words(in, room.subspan(plan.argv.size() + 1), max_plan_bytes);

  if (in.bad() != nullptr) return in.bad();
  if (!in.finished()) return "bytes after the end of the plan";
  if (plan.programs.empty() || plan.argv.empty()) return "nothing to execute";
  if (plan.landlock_abi == 0 && !plan.rules.empty()) return "rules without Landlock";
  if (plan.directory[0] != '/') return "a relative working directory";
  // Never root inside, and never root outside on behalf of a caller who is root.
  if (plan.inside_uid == 0 || plan.inside_gid == 0) return "the command would be root inside";
  if (plan.has(privileged) && (plan.outside_uid == 0 || plan.outside_gid == 0))
    return "the command would be root outside";
  return nullptr;
}

bool is_still(const Plan& plan) {
  for (const Mount& mount : plan.mounts) {
    if (mount.kind == MountKind::overlay || (mount.flags & owned) != 0) return false;
  }
  return true;
}

bool begins_with(const Plan& plan, const Plan& still) {
  const bool same_ids = plan.inside_uid == still.inside_uid && plan.inside_gid == still.inside_gid &&
                        plan.outside_uid == still.outside_uid && plan.outside_gid == still.outside_gid;
  return same_ids && (plan.flags & still_flags) == (still.flags & still_flags) &&
         plan.mounts.size() >= still.mounts.size() && plan.mount_bytes.size() >= still.mount_bytes.size() &&
         std::memcmp(plan.mount_bytes.data(), still.mount_bytes.data(), still.mount_bytes.size()) == 0;
}

}  // namespace cloche::wire
