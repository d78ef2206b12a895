// Where things lead that are executed without being members of the protected set by their own name
// (LeadFact): observed before a command, compared afterwards, written down for whoever has to make up for a
// look, and remembered by their names from one look to the next.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/facts.hpp"
#include "policy/protected/git_config_paths.hpp"
#include "store/trust/symlink_trace.hpp"

namespace cloche {

LeadFact::Kind kind_of(PlaceKind kind);

struct LeadName {
  std::string path;
  LeadFact::Kind kind = LeadFact::Kind::link;
  auto operator<=>(const LeadName&) const = default;
};

// What is known of a lead from one call to the next. Nothing may say so any more, or the way may be gone:
// but that may be a command's doing, which another brings back, with something else at its end by then.
struct RememberedLead {
  LeadName name;
  std::string end = {};                 // the last that it had in the tree
  int64_t lost = 0;                     // as LeadFact's
  std::vector<std::string> links = {};  // that it went by then
  bool operator==(const RememberedLead&) const = default;
};

LeadFact lead_fact(const LeadName& name, const SymlinkTrace& way);

class KnownLeads {
 public:
  explicit KnownLeads(const std::vector<LeadFact>& leads);

  // nullptr: nobody knew of it.
  const LeadFact* find(const LeadName& name) const;
  // Whether something of this kind led there before, by whatever name: so it was executed already.
  bool was_end(LeadFact::Kind kind, const struct stat& seen) const;
  // Whether it is a link that some lead went by, as it was.
  bool was_link(const struct stat& seen) const;
  const std::vector<LeadFact>& all() const { return leads_; }

 private:
  const std::vector<LeadFact>& leads_;
  std::map<LeadName, const LeadFact*> by_name_;
  std::set<std::tuple<LeadFact::Kind, uint64_t, uint64_t>> ends_;
  std::set<std::tuple<uint64_t, uint64_t, ChangeTime>> links_;
};

bool is_step(const LeadFact::Step& step, const std::string& path, const struct stat& seen);

// Those of `more` that have other names.
void add_leads(std::vector<LeadFact>& leads, const std::vector<LeadFact>& more);

// What cannot be read is left out.
std::string text_of_leads(const std::vector<LeadFact>& leads);
std::vector<LeadFact> leads_in(std::string_view text);
std::string text_of_remembered(const std::vector<RememberedLead>& leads);
std::vector<RememberedLead> remembered_in(std::string_view text);

}  // namespace cloche
