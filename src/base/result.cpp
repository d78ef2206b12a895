#include "base/result.hpp"

#include <cstring>

namespace cloche {

Error system_error(std::string doing, int number) {
  std::string what = std::move(doing);
  what += ": ";
  what += strerrordesc_np(number) != nullptr ? strerrordesc_np(number) : "unknown error";
  return {Fault::system, std::move(what), number, {}};
}

Error usage_error(std::string what, std::string fix) {
  return {Fault::usage, std::move(what), 0, std::move(fix)};
}

Error refusal(std::string what, std::string fix) {
  return {Fault::configuration, std::move(what), 0, std::move(fix)};
}

std::string describe(const Error& error) {
  return error.fix.empty() ? error.what : error.what + "; " + error.fix;
}

}  // namespace cloche
