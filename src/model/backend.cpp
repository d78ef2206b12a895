#include "model/backend.hpp"

#include <algorithm>
#include <iterator>

namespace cloche {
namespace {

constexpr Backend of_subprocess[] = {Backend::subprocess};
constexpr Backend of_namespaces[] = {Backend::native, Backend::bwrap};
constexpr Backend of_container[] = {Backend::crun, Backend::runc};
constexpr Backend of_gvisor[] = {Backend::runsc};
constexpr Rung all_rungs[] = {Rung::permissive, Rung::subprocess, Rung::namespaces,
                              Rung::container,  Rung::gvisor,     Rung::microvm};

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

Rung rung_of(Backend backend) {
  switch (backend) {
    case Backend::native:
    case Backend::bwrap: return Rung::namespaces;
    case Backend::subprocess: return Rung::subprocess;
    case Backend::crun:
    case Backend::runc: return Rung::container;
    case Backend::runsc: return Rung::gvisor;
    case Backend::none: return Rung::permissive;
  }
  return Rung::permissive;
}

std::span<const Backend> backends_of(Rung rung) {
  switch (rung) {
    case Rung::subprocess: return of_subprocess;
    case Rung::namespaces: return of_namespaces;
    case Rung::container: return of_container;
    case Rung::gvisor: return of_gvisor;
    case Rung::permissive:
    case Rung::microvm: break;
  }
  return {};
}

std::optional<Rung> rung_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(all_rungs), std::end(all_rungs),
                                   [&](Rung rung) { return name_of(rung) == name; });
  return found == std::end(all_rungs) ? std::nullopt : std::optional(*found);
}

}  // namespace cloche
