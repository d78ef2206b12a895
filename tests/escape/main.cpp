// escape-attacks: one static program with all the attacks in it, so that one file copied into a workspace is
// enough.
//
//   escape-attacks list                     name<TAB>promise
//   escape-attacks NAME [ARG...]            tries one: `ESCAPED: how` 10, `held: why` 20, `unable: why` 30;
//                                           `planted: what` 0 when only an observer outside can judge
//   escape-attacks prop NAME [ARG...]       a launcher or a victim, see props.cpp
#include <cstdio>
#include <stdexcept>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

Attacks all_attacks() {
  Attacks all;
  for (const auto& group :
       {file_attacks(), mode_bit_attacks(), descriptor_attacks(), secret_attacks(), process_attacks(),
        socket_attacks(), privilege_attacks(), mount_attacks(), kernel_surface_attacks(), terminal_attacks(),
        ipc_attacks(), bomb_attacks(), memory_bomb_attacks(), disk_bomb_attacks(), survivor_attacks()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

const char* word_for(Ending ending) {
  switch (ending) {
    case Ending::planted: return "planted";
    case Ending::escaped: return "ESCAPED";
    case Ending::held: return "held";
    case Ending::unable: return "unable";
  }
  return "unable";
}

Report try_attack(const std::string& name, const Arguments& args) {
  for (const Attack& attack : all_attacks()) {
    if (attack.name != name) continue;
    try {
      return attack.attempt(args);
    } catch (const std::out_of_range&) {
      return unable("this attack needs more arguments");
    }
  }
  return unable("no attack is called " + name);
}

}  // namespace
}  // namespace cloche::escape

int main(int argc, char** argv) {
  using namespace cloche::escape;
  const Arguments words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fputs("usage: escape-attacks list | NAME [ARG...] | prop NAME [ARG...]\n", stderr);
    return 2;
  }
  if (words[0] == "list") {
    for (const Attack& attack : all_attacks()) std::printf("%s\t%s\n", attack.name, attack.promise);
    return 0;
  }
  if (words[0] == "prop" && words.size() > 1) {
    try {
      return run_prop(words[1], {words.begin() + 2, words.end()});
    } catch (const std::out_of_range&) {
      std::fputs("prop: missing argument\n", stderr);
      return 2;
    }
  }
  const Report report = try_attack(words[0], {words.begin() + 1, words.end()});
  std::printf("%s: %s\n", word_for(report.ending), report.how.c_str());
  std::fflush(stdout);
  return static_cast<int>(report.ending);
}
