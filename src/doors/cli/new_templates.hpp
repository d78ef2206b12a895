// What `cloche new` writes, as text: each a working one that carries its own test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct NewFile {
  std::string path;  // below the directory that was named
  std::string text;
  bool executable = false;
};

struct NewThing {
  std::string_view kind;
  std::vector<NewFile> files;
  std::string next;  // the command that tries it
};

NewThing new_skill(const std::string& name);
NewThing new_executor(const std::string& name);
NewThing new_rule(const std::string& name);

}  // namespace cloche
