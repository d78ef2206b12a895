// Where the parts of a JSON text stand in it, for a change that leaves the rest byte for byte as it was. Only
// for a text that read_json() accepts. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// A member of an object or an item of an array.
struct JsonSpan {
  size_t begin = 0;  // of a member its name's quote
  size_t value = 0;
  size_t end = 0;
};

// Where the outermost value begins.
size_t begin_of_json(std::string_view text);

// What the object or array holds that begins at `bracket`, in order.
std::vector<JsonSpan> spans_in(std::string_view text, size_t bracket);

// The member whose name is written so; one that is written with escapes is not found.
std::optional<JsonSpan> member_span(std::string_view text, size_t object, std::string_view name);

// The text without that part, the `which`th behind this bracket, and without the comma that it had.
std::string cut_span(std::string_view text, size_t bracket, size_t which);

}  // namespace cloche
