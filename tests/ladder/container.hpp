// A container around Cloche, as Docker makes one: its capabilities, the calls that its default filter
// refuses, its namespaces, and a root that is the host's /usr and /etc, read-only. Started by runc, as root.
#pragma once

#include <string>

#include "harness/harness.hpp"

namespace cloche::test {

enum class Filtered { as_docker_does, as_hosts_says, not_at_all };

struct ContainerIs {
  std::string marker = {};  // a file that says of which kind it is: "/.dockerenv"
  Filtered filtered = Filtered::as_docker_does;
  bool proc_is_masked = true;
};

// A bash script in the scene's workspace, which is the only thing of the host that can be written.
Ran run_in_container(Scene& scene, const std::string& script, const ContainerIs& container = {});

}  // namespace cloche::test
