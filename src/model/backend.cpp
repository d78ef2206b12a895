#include "model/backend.hpp"

#include "model/names.hpp"

namespace cloche {
namespace {

constexpr Backend of_subprocess[] = {Backend::subprocess};
constexpr Backend of_namespaces[] = {Backend::native, Backend::bwrap};
constexpr Backend of_container[] = {Backend::crun, Backend::runc};
constexpr Backend of_gvisor[] = {Backend::runsc};
constexpr std::string_view names[] = {"native", "bwrap", "subprocess", "crun", "runc", "runsc", "none"};

}  // namespace

std::string_view name_of(Backend backend) { return name_in<Backend::none>(names, backend); }

std::optional<Backend> backend_named(std::string_view name) { return value_in<Backend>(names, name); }

std::string_view package_of(Backend backend) {
  return backend == Backend::bwrap ? "bubblewrap" : name_of(backend);
}

IsolationLevel level_of(Backend backend) {
  switch (backend) {
    case Backend::native:
    case Backend::bwrap: return IsolationLevel::namespaces;
    case Backend::subprocess: return IsolationLevel::subprocess;
    case Backend::crun:
    case Backend::runc: return IsolationLevel::container;
    case Backend::runsc: return IsolationLevel::gvisor;
    case Backend::none: return IsolationLevel::permissive;
  }
  return IsolationLevel::permissive;
}

std::span<const Backend> backends_of(IsolationLevel level) {
  switch (level) {
    case IsolationLevel::subprocess: return of_subprocess;
    case IsolationLevel::namespaces: return of_namespaces;
    case IsolationLevel::container: return of_container;
    case IsolationLevel::gvisor: return of_gvisor;
    case IsolationLevel::permissive:
    case IsolationLevel::microvm: break;
  }
  return {};
}

std::optional<IsolationLevel> level_named(std::string_view name) {
  for (auto level = IsolationLevel::permissive; level <= IsolationLevel::microvm;
       level = static_cast<IsolationLevel>(static_cast<int>(level) + 1))
    if (name_of(level) == name) return level;
  return std::nullopt;
}

}  // namespace cloche
