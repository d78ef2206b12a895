#include "base/result.hpp"

#include <cstring>

namespace cloche {

Error system_error(Message doing, int number) {
  doing += ": ";
  doing += strerrordesc_np(number) != nullptr ? strerrordesc_np(number) : "unknown error";
  return {Cause::system, std::move(doing), number};
}

Error usage_error(Message what, Message fix) { return {Cause::usage, std::move(what), 0, std::move(fix)}; }

Error refusal(Message what, Message fix) {
  return {Cause::configuration, std::move(what), 0, std::move(fix)};
}

std::string describe(const Error& error) {
  return error.fix.empty() ? error.what.text() : error.what.text() + "; " + error.fix.text();
}

}  // namespace cloche
