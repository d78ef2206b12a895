// The columns of the table: each front end that can have an approval makes one call, waits for the question,
// opens the window in which the test swaps something, gives the yes, and tells what became of the call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mcp/driver.hpp"
#include "tools/fixture.hpp"

namespace cloche::test {

// A call in words that every front end can be given. "@" is the root of the scene.
struct Asked {
  Words argv;
  Words flags = {};            // of run, call and mcp; a hook has the grants among them by its profile
  std::string directory = {};  // beneath the workspace; empty: its top
};

// A scene in which everything that can be swapped says "original", and beside it, below swapped/, the same
// tree in which everything says "swapped". What runs copies that word into a file `ran`.
class Stage {
 public:
  Stage(As as, const std::string& writes);  // the key of that name

  As as() const { return as_; }
  McpScene& scene() { return scene_; }
  std::string path(const std::string& relative) const { return (scene_.root() / relative).string(); }
  // With the scene's root for each "@".
  std::string placed(std::string text) const;
  Words placed(const Words& words) const;

  // Of Cloche's, in the root of the scene.
  Command command(const Words& words) const;
  // In the root of the scene, without Cloche. What fails, fails the test.
  Ran shell(const std::string& script) const { return shell(script, as_); }
  Ran shell(const std::string& script, As as) const;

  // Of `cloche run`, as JSON.
  Json explained(const Asked& asked) const;
  // The command without Cloche, once something is written to the FIFO `go`.
  Command without_cloche(const Asked& asked) const;

  void approve(const std::string& refused) const;  // the question named in it
  std::string ran() const;                         // what the files `ran` say; empty: there is none
  void forget_ran() const;
  Json recorded() const;  // the last line of the newest transcript

 private:
  std::vector<fs::path> files_ran() const;

  As as_;
  McpScene scene_;
};

struct Went {
  bool refused = false;
  std::string said = {};
};

using Window = std::function<void()>;

struct FrontEnd {
  const char* name;
  Went (*call)(Stage& stage, const Asked& asked, const Window& window);
  bool takes_flags = true;
  bool has_view = true;    // mounts and a network of its own; otherwise names of files are the host's
  bool as_nobody = false;  // too: one column of each front end, because every cell takes a fifth of a second
};

const std::vector<FrontEnd>& front_ends();

// `cloche run`.
Words run_words(const Stage& stage, const Asked& asked);

}  // namespace cloche::test
