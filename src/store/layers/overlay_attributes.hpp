// The extended attributes that overlayfs keeps on the files of its layers. It hides them from the call, and
// stores an attribute of the call's with such a name under an escaped one ("user.overlay.overlay.opaque"),
// so that a call cannot forge them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

// Which names an overlay uses, by how it was mounted.
enum class OverlayAttributes {
  user_namespace,  // "user.overlay.", the option userxattr
  privileged,      // "trusted.overlay."
};
std::string_view prefix_of(OverlayAttributes attributes);

// Of either kind of mount, escaped ones too: such an attribute never reaches the project, whatever it says.
bool is_overlay_attribute(std::string_view name);

// Ours, on a directory of an upper layer that the call had closed and that was opened to be read: the mode
// that the call gave it, in octal. The overlay's prefix keeps a call from writing one of its own.
std::string saved_mode_attribute(OverlayAttributes attributes);

// What one entry's attributes say, by their names.
struct OverlayMarks {
  bool opaque = false;          // its value says how: opaque_is_whole, opaque_has_whiteouts
  bool whiteout = false;        // a whiteout that is a file
  bool origin = false;          // copied up, or moved from the lower layer
  bool saved_mode = false;      // ours
  std::string unexpected = {};  // one that the mounts of ours never write, such as redirect and metacopy
};

inline constexpr std::string_view opaque_is_whole = "y";       // hides all that the lower directory has
inline constexpr std::string_view opaque_has_whiteouts = "x";  // files in it may be whiteouts

// `names`: as listxattr(2) gives them, each ended by a NUL.
OverlayMarks overlay_marks(std::string_view names, OverlayAttributes attributes);

// The first attribute of a lower entry, from an archive for instance, that makes an overlay hide it, hide
// what is in it, or take it for something else; empty: there is none.
std::string attribute_that_misleads(std::string_view names, OverlayAttributes attributes);

// Calls visit(name) for each of a list of listxattr(2).
template <typename Visit>
void for_each_attribute(std::string_view names, const Visit& visit) {
  while (!names.empty()) {
    const size_t end = names.find('\0');
    visit(names.substr(0, end));
    if (end == std::string_view::npos) return;
    names.remove_prefix(end + 1);
  }
}

}  // namespace cloche
