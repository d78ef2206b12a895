// Whether a process has a file open for writing, found by asking the kernel for a lease on reading, which it
// grants only where no process has. The lease is given back at once.
#pragma once

namespace cloche {

enum class LeaseAnswer {
  granted,           // no process has it open for writing
  open_for_writing,  // where grants_leases() says so
  unknown,           // the file of another user, or a file system without leases
};

// `fd`: a regular file, open for reading alone.
LeaseAnswer ask_lease(int fd);

// Whether a refusal on this file system says something: some servers refuse every lease. Asked with a file
// without a name in `directory`, which is ours.
bool grants_leases(int directory);

}  // namespace cloche
