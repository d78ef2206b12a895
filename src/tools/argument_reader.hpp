// Arguments of a tool, taken one by one: what is missing, of another kind or unknown becomes the one problem
// of the call. A schema says the same to models; a tool does not rely on the schema gate having checked it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"

namespace cloche {

class ArgumentReader {
 public:
  // `arguments` and `problem` outlive the reader.
  ArgumentReader(const JsonValue& arguments, std::string& problem);

  std::string text(std::string_view name);  // must be there
  std::optional<std::string> maybe_text(std::string_view name);
  // A whole number from `least` to `most`.
  std::optional<uint64_t> maybe_number(std::string_view name, uint64_t least, uint64_t most);
  // timeout_s, in milliseconds.
  std::optional<uint64_t> maybe_timeout();
  // Whether everything that was given has been taken; otherwise that is the problem.
  bool finish();

 private:
  const JsonValue* take(std::string_view name);
  void wrong(std::string problem);

  const JsonValue& arguments_;
  std::string& problem_;
  std::vector<std::string_view> taken_;
};

}  // namespace cloche
