// manifest.json: a user's own tool, and what it declares. Pure; store/config/skill_files reads the file and
// knows whom it belongs to.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/skill.hpp"

namespace cloche {

inline constexpr size_t max_manifest_bytes = 1 << 20;

// `folder` is where the manifest lies, resolved. Whatever is not understood refuses: an unknown key, a
// keyword of a schema that we would not check, a limit above the default.
Result<Executor> read_executor(std::string_view text, const std::string& source, const std::string& folder,
                               Trust trust);

}  // namespace cloche
