// Extended attributes and modes of single directory entries: one name in a directory that is held, no link
// followed. Overlay's own attributes say how a layer is merged; none of them may reach a project, where
// a later overlay would act on it.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/layers/overlay_attributes.hpp"

namespace cloche {

// A file system without attributes has none.
Result<std::vector<std::string>> attributes_of(int directory, const char* name);

Result<bool> has_overlay_attributes(int directory, const char* name);
// The owner of a file that is read-only gets write permission meanwhile.
Result<void> strip_overlay_attributes(int directory, const char* name);

// Gives `to` the attributes of `from`: those of users and access control lists, and overlay's own from one
// layer to another. What `to` has beyond them is removed.
enum class OverlaysOwn { left_out, copied };
Result<void> copy_attributes(int from_directory, const char* from, int to_directory, const char* to,
                             OverlaysOwn overlays = OverlaysOwn::left_out);

// Of a file or directory, never of what a link leads to.
Result<void> set_mode(int directory, const char* name, mode_t mode);

// Of a directory that is held, be it only by O_PATH and closed to its owner.
bool set_mode_of_held(int directory, mode_t mode);

// Whether the caller is bound by modes and owners.
bool is_bound_by_modes();

}  // namespace cloche
