// Reads the part of YAML that people write into the head of a document, as the same values that JSON gives. A
// text has one meaning or none: anchors, aliases, tags of one's own, a key given twice, a key that is no
// string, the key << (which merges, for some readers) and a second document are errors, and nothing grows
// beyond what was written. Plain scalars are typed by the core schema of YAML 1.2, so `no` is a string.
// yaml-cpp does the parsing and throws; nothing leaves here but a Result.
#pragma once

#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "base/result.hpp"

namespace cloche {

// Which tags may stand before a value: those of the core schema that agree with it, or none at all.
enum class YamlTags { core, none };

struct YamlLimits {
  size_t bytes = 64 << 10;
  size_t values = 10'000;
  int depth = 32;
  int first_line = 1;  // of the text within its file
  YamlTags tags = YamlTags::core;
};

// The whole text is one document; an empty one is null. Errors say file:line.
Result<JsonValue> read_yaml(std::string_view text, const std::string& source, const YamlLimits& limits = {});

}  // namespace cloche
