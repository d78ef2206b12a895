#include "store/protected/leads.hpp"

#include <charconv>
#include <optional>

#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

LeadFact::Step step_of(const std::string& path, const struct stat& seen) {
  return {path, seen.st_dev, seen.st_ino, change_of(seen)};
}

// Fields that end with a NUL: a path may hold anything else.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next() {
    const size_t end = rest_.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }
  template <typename Number>
  std::optional<Number> number() {
    const auto field = next();
    Number value{};
    if (!field) return std::nullopt;
    const auto read = std::from_chars(field->data(), field->data() + field->size(), value);
    if (read.ec != std::errc{} || read.ptr != field->data() + field->size()) return std::nullopt;
    return value;
  }
  std::optional<LeadName> name() {
    const auto kind = number<unsigned>();
    const auto path = next();
    if (!kind || !path || *kind > static_cast<unsigned>(LeadFact::Kind::worktree_part)) return std::nullopt;
    return LeadName{std::string(*path), static_cast<LeadFact::Kind>(*kind)};
  }
  std::optional<LeadFact::Step> step() {
    const auto path = next();
    const auto device = number<uint64_t>();
    const auto inode = number<uint64_t>();
    const auto seconds = number<int64_t>();
    const auto nanoseconds = number<int64_t>();
    if (!path || !device || !inode || !seconds || !nanoseconds) return std::nullopt;
    return LeadFact::Step{std::string(*path), *device, *inode, {*seconds, *nanoseconds}};
  }
  std::optional<LeadFact> lead() {
    const auto named = name();
    auto end = step();
    const auto links = number<size_t>();
    if (!named || !end || !links) return std::nullopt;
    const auto lost = number<int64_t>();
    if (!lost) return std::nullopt;
    LeadFact lead{.path = named->path, .kind = named->kind, .end = std::move(*end), .lost = *lost};
    while (lead.links.size() < *links) {
      auto link = step();
      if (!link) return std::nullopt;
      lead.links.push_back(std::move(*link));
    }
    const auto dangers = number<size_t>();
    if (!dangers) return std::nullopt;
    while (lead.dangers.size() < *dangers) {
      const auto danger = next();
      if (!danger) return std::nullopt;
      lead.dangers.emplace_back(*danger);
    }
    return lead;
  }

 private:
  std::string_view rest_;
};

void put(std::string& text, std::string_view field) {
  text += field;
  text += '\0';
}

void put(std::string& text, const LeadFact::Step& step) {
  put(text, step.path);
  put(text, std::to_string(step.device));
  put(text, std::to_string(step.inode));
  put(text, std::to_string(step.changed.seconds));
  put(text, std::to_string(step.changed.nanoseconds));
}

void put(std::string& text, LeadFact::Kind kind, const std::string& path) {
  put(text, std::to_string(static_cast<unsigned>(kind)));
  put(text, path);
}

}  // namespace

LeadFact::Kind kind_of(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::hooks: return LeadFact::Kind::hooks;
    case PlaceKind::config: return LeadFact::Kind::config;
    case PlaceKind::program: return LeadFact::Kind::program;
    case PlaceKind::repository: break;
  }
  return LeadFact::Kind::repository;
}

LeadFact lead_fact(const LeadName& name, const SymlinkTrace& way) {
  LeadFact lead{.path = name.path, .kind = name.kind};
  if (way.error == 0) lead.end = step_of(way.path, way.seen);
  if (way.error != 0) lead.end.path = way.missing;
  for (const auto& link : way.links) {
    if (name.kind != LeadFact::Kind::link || link.path != name.path)
      lead.links.push_back(step_of(link.path, link.seen));
  }
  return lead;
}

KnownLeads::KnownLeads(const std::vector<LeadFact>& leads) : leads_(leads) {
  for (const auto& lead : leads) {
    by_name_.emplace(LeadName{lead.path, lead.kind}, &lead);
    if (lead.end.inode != 0) ends_.emplace(lead.kind, lead.end.device, lead.end.inode);
    for (const auto& link : lead.links) links_.emplace(link.device, link.inode, link.changed);
  }
}

const LeadFact* KnownLeads::find(const LeadName& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second : nullptr;
}

bool KnownLeads::was_end(LeadFact::Kind kind, const struct stat& seen) const {
  return ends_.contains({kind, seen.st_dev, seen.st_ino});
}

bool KnownLeads::was_link(const struct stat& seen) const {
  return links_.contains({seen.st_dev, seen.st_ino, change_of(seen)});
}

bool is_step(const LeadFact::Step& step, const std::string& path, const struct stat& seen) {
  return step.path == path && step.device == seen.st_dev && step.inode == seen.st_ino;
}

void add_leads(std::vector<LeadFact>& leads, const std::vector<LeadFact>& more) {
  std::set<LeadName> names;
  for (const auto& lead : leads) names.insert({lead.path, lead.kind});
  for (const auto& lead : more) {
    if (names.insert({lead.path, lead.kind}).second) leads.push_back(lead);
  }
}

std::string text_of_leads(const std::vector<LeadFact>& leads) {
  std::string text;
  for (const auto& lead : leads) {
    put(text, lead.kind, lead.path);
    put(text, lead.end);
    put(text, std::to_string(lead.links.size()));
    put(text, std::to_string(lead.lost));
    for (const auto& link : lead.links) put(text, link);
    put(text, std::to_string(lead.dangers.size()));
    for (const auto& danger : lead.dangers) put(text, danger);
  }
  return text;
}

std::vector<LeadFact> leads_in(std::string_view text) {
  std::vector<LeadFact> leads;
  Fields fields(text);
  while (auto lead = fields.lead()) leads.push_back(std::move(*lead));
  return leads;
}

std::string text_of_remembered(const std::vector<RememberedLead>& leads) {
  std::string text;
  for (const auto& lead : leads) {
    put(text, lead.name.kind, lead.name.path);
    put(text, lead.end);
    put(text, std::to_string(lead.lost));
    put(text, std::to_string(lead.links.size()));
    for (const auto& link : lead.links) put(text, link);
  }
  return text;
}

std::vector<RememberedLead> remembered_in(std::string_view text) {
  std::vector<RememberedLead> leads;
  Fields fields(text);
  while (auto name = fields.name()) {
    const auto end = fields.next();
    const auto lost = fields.number<int64_t>();
    const auto links = fields.number<size_t>();
    if (!end || !lost || !links) break;
    leads.push_back({std::move(*name), std::string(*end), *lost});
    for (size_t i = 0; i < *links; ++i) {
      const auto link = fields.next();
      if (!link) return leads;
      leads.back().links.emplace_back(*link);
    }
  }
  return leads;
}

}  // namespace cloche
