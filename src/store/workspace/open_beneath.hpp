// The one path primitive of the file tools: openat2 beneath a held directory.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

enum class Links { refused, followed };  // followed: only beneath the directory

// Never leaves `directory` nor its mount, never blocks, never becomes our terminal. The error has a sentence
// for a model, about `shown`.
Result<OwnedFd> open_beneath(int directory, const std::string& path, int flags, Links links,
                             const std::string& shown);

// One sentence for what the kernel answered about a path.
Error path_error(const std::string& shown, int number);

}  // namespace cloche
