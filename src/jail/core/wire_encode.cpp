#include "jail/core/wire_encode.hpp"

namespace cloche::wire {
namespace {

class Writer {
 public:
  template <typename T>
  void number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void identity(const Identity& value) {
    number(value.device);
    number(value.inode);
  }
  void text(const std::string& value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_.append(value.data(), value.size() + 1);  // with its NUL
  }
  void words(const std::vector<std::string>& values) {
    number(static_cast<uint32_t>(values.size()));
    for (const auto& value : values) text(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void write_mount(Writer& out, const MountText& mount) {
  out.number(static_cast<uint32_t>(mount.kind));
  out.number(mount.flags);
  out.number(mount.mode);
  out.number(mount.owner_uid);
  out.number(mount.owner_gid);
  out.number(mount.size_bytes);
  out.number(mount.files);
  out.identity(mount.judged);
  out.text(mount.target);
  out.text(mount.source);
  out.text(mount.content);
  out.text(mount.layers);
  out.identity(mount.judged_layers);
}

}  // namespace

std::string encode(const PlanText& plan) {
  Writer out;
  out.number(format);
  out.number(plan.flags);
  out.number(plan.inside_uid);
  out.number(plan.inside_gid);
  out.number(plan.outside_uid);
  out.number(plan.outside_gid);
  out.number(plan.umask);
  out.number(plan.landlock_abi);
  out.number(plan.rows);
  out.number(plan.columns);
  out.text(plan.directory);
  out.identity(plan.judged_directory);
  out.number(static_cast<uint32_t>(plan.mounts.size()));
  for (const auto& mount : plan.mounts) write_mount(out, mount);
  out.number(static_cast<uint32_t>(plan.rules.size()));
  for (const auto& rule : plan.rules) {
    out.number(static_cast<uint32_t>(rule.access));
    out.text(rule.path);
    out.identity(rule.judged);
  }
  out.number(static_cast<uint32_t>(plan.limits.size()));
  for (const auto& limit : plan.limits) {
    out.number(limit.resource);
    out.number(limit.value);
  }
  out.number(static_cast<uint32_t>(plan.listeners.size()));
  for (const auto& listener : plan.listeners) {
    out.number(listener.stream);
    out.number(listener.port);
    out.number(listener.address);
  }
  out.words(plan.programs);
  out.words(plan.argv);
  out.words(plan.env);
  return out.take();
}

}  // namespace cloche::wire
