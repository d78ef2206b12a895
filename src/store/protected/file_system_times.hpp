// What a file system's times of change can be trusted for, by its type (statfs). Pure.
#pragma once

#include <cstdint>

namespace cloche {

// Where a directory's time of change is this kernel's own, set with every name that comes or goes. Of a file
// system that a server or another process answers for nobody knows.
bool keeps_change_times(uint64_t type);

// Where a write through a shared mapping stamps the file as any other write does. On tmpfs and ramfs it does
// not, and an overlay may have one of them for its upper layer; of others nobody knows. There contents are
// compared (store/protected/member_contents.hpp).
bool stamps_mapped_writes(uint64_t type);

// Of what is open; 0 when the kernel does not say.
uint64_t file_system_type(int fd);

}  // namespace cloche
