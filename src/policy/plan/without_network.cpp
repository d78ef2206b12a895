#include "policy/plan/without_network.hpp"

namespace cloche {
namespace {

#include "policy/without_network.inc"

}  // namespace

std::span<const EnvironmentRow> environment_without_network() { return rows; }

}  // namespace cloche
