#include "tools/function.hpp"

namespace cloche {

void understand_function(const std::string& name, const std::string& arguments, Intent& intent) {
  intent.launch = Launch{.does = FunctionCall{name, arguments}};
}

}  // namespace cloche
