// SKILL.md: what its frontmatter declares. Pure; store/config/skill_files reads the file and knows whom it
// belongs to.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/skill.hpp"

namespace cloche {

inline constexpr size_t max_skill_bytes = 64 << 10;

// Our keys stand at the top, or in `metadata` with the prefix "cloche." as strings; both is fine when they
// say the same. A key of the wrong type is refused. An unknown key is a warning, and refused when it is a
// misspelt one of ours.
Result<Skill> read_skill(std::string_view text, const std::string& source, Trust trust);

// What stands behind the frontmatter: the words for a model.
Result<std::string_view> skill_body(std::string_view text, const std::string& source);

}  // namespace cloche
