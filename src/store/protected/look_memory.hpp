// What is kept of a look between calls: STATE/looked, two files for each tree, 0600. Losing what was quiet
// (store/protected/tree_memory.hpp) costs the next look time and nothing else; losing where leads led
// (store/protected/leads.hpp) is as if the host had given them up.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/protected/leads.hpp"

namespace cloche {

inline constexpr const char* looked_name = "looked";

class LookMemory {
 public:
  // Without a state directory nothing is remembered.
  LookMemory(const std::string& state, int root);

  // What the last look there remembered; empty: nothing, or by another table of protected names.
  std::string_view text() const;
  // What is as it was is not written again.
  void keep(std::string_view memory) const;

  // Which leads (store/protected/leads.hpp) there were.
  std::vector<RememberedLead> leads() const;
  void keep_leads(const std::vector<RememberedLead>& leads) const;

 private:
  std::string leads_file() const;

  std::string directory_;
  std::string file_;
  std::string read_;  // with its first line
};

}  // namespace cloche
