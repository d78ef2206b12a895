#include "model/backend.hpp"

#include <algorithm>
#include <iterator>

namespace cloche {
namespace {

constexpr Backend of_subprocess[] = {Backend::subprocess};
constexpr Backend of_namespaces[] = {Backend::native, Backend::bwrap};
constexpr Backend of_container[] = {Backend::crun, Backend::runc};
constexpr Backend of_gvisor[] = {Backend::runsc};
constexpr IsolationLevel all_levels[] = {IsolationLevel::permissive, IsolationLevel::subprocess,
                                         IsolationLevel::namespaces, IsolationLevel::container,
                                         IsolationLevel::gvisor,     IsolationLevel::microvm};

}  // namespace

std::string_view name_of(Backend backend) {
  switch (backend) {
    case Backend::native: return "native";
    case Backend::bwrap: return "bwrap";
    case Backend::subprocess: return "subprocess";
    case Backend::crun: return "crun";
    case Backend::runc: return "runc";
    case Backend::runsc: return "runsc";
    case Backend::none: return "none";
  }
  return "unknown";
}

std::optional<Backend> backend_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(all_backends), std::end(all_backends),
                                   [&](Backend backend) { return name_of(backend) == name; });
  return found == std::end(all_backends) ? std::nullopt : std::optional(*found);
}

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
  const auto* found = std::find_if(std::begin(all_levels), std::end(all_levels),
                                   [&](IsolationLevel level) { return name_of(level) == name; });
  return found == std::end(all_levels) ? std::nullopt : std::optional(*found);
}

}  // namespace cloche
