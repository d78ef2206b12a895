// When what was written to a project has to be on the disk.
#pragma once

namespace cloche {

// Whether a power cut soon after may leave an empty file.
enum class FileSync { later, at_once };

}  // namespace cloche
