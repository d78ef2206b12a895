// Files that have more than one name. A command that has another name in a tree it can write to can change
// the file, whatever is mounted on the name that Cloche knows.
#pragma once

#include <string>
#include <vector>

#include "base/sys/mount_table.hpp"

namespace cloche {

// Of a file, or of the files in a directory and in those right in it: what has another name and could be
// written by `caller`. In the directories of the system nothing is looked for: a second
// name there would give away every program, not only Cloche.
std::vector<std::string> with_other_names(const std::string& place, unsigned caller);

// The same of one file that is open, which lies at `place`.
bool has_other_names(int fd, const std::string& place, unsigned caller);

// Whether another name of a file could lie in one of these trees: no name leaves its file system. By the
// mount table, because the numbers that files have do not say it everywhere (subvolumes, overlays). What it
// does not know could.
bool could_lie_in(const std::vector<Mount>& table, const std::string& file,
                  const std::vector<std::string>& trees);

// The files for which that holds now.
std::vector<std::string> that_could_lie_in(const std::vector<std::string>& trees,
                                           std::vector<std::string> files);

}  // namespace cloche
