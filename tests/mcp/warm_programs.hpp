// Two hundred small Python programs whose output, end and failure are the same whenever they run.
#pragma once

#include <string>
#include <vector>

namespace cloche::test {

std::vector<std::string> small_programs();

}  // namespace cloche::test
