#include "model/plan.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/text/sha256.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

void write_entry(JsonWriter& out, const ViewEntry& entry) {
  out.begin_object().member("target", entry.target).member("kind", name_of(entry.kind));
  out.member("access", name_of(entry.access));
  if (!entry.source.empty()) out.member("source", entry.source);
  if (!entry.content.empty()) out.member("content", entry.content);
  if (entry.mode != 0755) out.member("mode", entry.mode);
  if (entry.size_bytes != 0) out.member("size_bytes", entry.size_bytes);
  if (entry.file) out.member("file", true);
  if (entry.copied) out.member("copied", true);
  if (entry.recursive) out.member("recursive", true);
  if (entry.layered) out.member("layered", true);
  if (entry.owned)
    out.member("owned", true).member("owner_uid", entry.owner_uid).member("owner_gid", entry.owner_gid);
  if (entry.inode != 0 && !entry.made_on_demand)
    out.member("device", entry.device).member("inode", entry.inode);
  out.member("why", entry.why).end_object();
}

void write_limits(JsonWriter& out, const ConfinementPlan& plan) {
  out.key("limits").begin_object();
  for (const auto& row : limit_table) {
    if (!plan.hosts.empty() || !is_of_network(row.id)) out.member(row.name, show_limit(plan.limits, row));
  }
  out.end_object();
}

// JSON cannot carry bytes that are not UTF-8, so two commands could print alike: then their exact bytes count
// as well. All others have the digest of the JSON that every front end shows.
void add_exactly(std::string& bytes, const std::string& text) {
  if (is_utf8(text)) return;
  const uint64_t size = text.size();
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

bool prints_exactly(const ViewEntry& entry) {
  return is_utf8(entry.target) && is_utf8(entry.source) && is_utf8(entry.content);
}

std::string exact_bytes_around_command(const ConfinementPlan& plan) {
  std::string bytes;
  for (const auto& [name, value] : plan.environment) {
    if (!is_utf8(name) || !is_utf8(value)) add_exactly(bytes, name + "=" + value);
  }
  for (const auto& entry : plan.view) {
    if (!prints_exactly(entry)) add_exactly(bytes, entry.target + '\0' + entry.source + '\0' + entry.content);
  }
  add_exactly(bytes, plan.directory);
  return bytes;
}

std::string command_json(const std::vector<std::string>& argv) { return JsonWriter().value(argv).take(); }

std::string command_exactly(const std::vector<std::string>& argv) {
  std::string bytes;
  for (const auto& word : argv) add_exactly(bytes, word);
  return bytes;
}

}  // namespace

std::string_view name_of(EntryKind kind) {
  static constexpr std::string_view names[] = {"directory", "link", "text",      "tree",
                                               "tmpfs",     "proc", "terminals", "queues"};
  return name_in<EntryKind::queues>(names, kind);
}

std::string_view name_of(Writes writes) {
  static constexpr std::string_view names[] = {"stage", "commit", "live"};
  return name_in<Writes::live>(names, writes);
}

std::string_view name_of(Access access) {
  static constexpr std::string_view names[] = {"none", "read", "run", "write", "write-run", "device"};
  return name_in<Access::device>(names, access);
}

RenderedPlan render_around_command(const ConfinementPlan& plan) {
  constexpr size_t usual_entry_bytes = 160;
  constexpr size_t usual_rest_bytes = 2048;
  RenderedPlan rendered;
  JsonWriter out(JsonWriter::Layout::compact);
  out.reserve(plan.view.size() * usual_entry_bytes + plan.action.size() + usual_rest_bytes);
  out.begin_object().member("rung", name_of(plan.level));
  // Where it is not the isolation level's own, so that a plan reads as it always did where no backend was
  // chosen.
  if (plan.level != IsolationLevel::permissive && plan.backend != backends_of(plan.level).front())
    out.member("backend", name_of(plan.backend));
  out.key("required").begin_array();
  for (LayerId layer : plan.required) out.value(name_of(layer));
  out.end_array().key("argv");
  rendered.before = out.text();
  out.raw("");  // the command
  if (!plan.action.empty()) out.key("action").raw(plan.action);
  out.member("directory", plan.directory).member("workspace", plan.workspace);
  if (plan.writes != Writes::live) out.member("writes", name_of(plan.writes));
  out.key("view").begin_array();
  for (const auto& entry : plan.view) write_entry(out, entry);
  out.end_array();
  out.key("environment").begin_object();
  for (const auto& [name, value] : plan.environment) out.member(name, value);
  out.end_object();
  if (!plan.secrets.empty()) {
    out.key("secrets").begin_object();
    for (const auto& secret : plan.secrets) out.member(secret.name, secret.fingerprint);
    out.end_object();
  }
  out.member("hosts", plan.hosts);
  if (!plan.ranges.empty()) out.member("ranges", plan.ranges);
  if (!plan.published.empty()) {
    std::vector<std::string> ports;
    for (const auto& port : plan.published) ports.push_back(to_text(port));
    out.member("published", ports);
  }
  if (plan.network == Network::of_host) out.member("network", "host");
  write_limits(out, plan);
  out.member("uid", plan.inside_uid).member("gid", plan.inside_gid).member("umask", plan.umask);
  out.member("terminal", plan.terminal).member("debugging", plan.debugging).end_object();
  rendered.after = out.text().substr(rendered.before.size());
  rendered.exact = exact_bytes_around_command(plan);
  return rendered;
}

std::vector<std::string> environment_words(const ConfinementPlan& plan) {
  std::vector<std::string> words;
  words.reserve(plan.environment.size() + plan.secrets.size());
  for (const auto& [name, value] : plan.environment) words.push_back(name + "=" + value);
  for (const auto& secret : plan.secrets) words.push_back(secret.name + "=" + secret.value);
  return words;
}

std::string to_text(const PublishedPort& port) {
  return std::to_string(port.host) + ":" + std::to_string(port.inside);
}

std::string to_json(const ConfinementPlan& plan) {
  const RenderedPlan rendered = render_around_command(plan);
  return rendered.before + command_json(plan.argv) + rendered.after;
}

std::string digest_of(const RenderedPlan& around, const std::vector<std::string>& argv) {
  Sha256 hash;
  hash.add(around.before).add(command_json(argv)).add(around.after);
  return "sha256:" + hash.add(command_exactly(argv)).add(around.exact).finish();
}

std::string digest_of(const ConfinementPlan& plan) {
  return digest_of(render_around_command(plan), plan.argv);
}

std::vector<std::string> program_candidates(const ConfinementPlan& plan, const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  std::vector<std::string> candidates;
  for (const auto& [variable, value] : plan.environment) {
    if (variable != "PATH") continue;
    size_t begin = 0;
    while (begin <= value.size() && candidates.size() < 60) {
      const size_t end = std::min(value.find(':', begin), value.size());
      if (end > begin) candidates.push_back(value.substr(begin, end - begin) + "/" + name);
      begin = end + 1;
    }
  }
  return candidates;
}

Holders::Holders(const ConfinementPlan& plan) {
  for (const auto& entry : plan.view) {
    if (entry.kind == EntryKind::tree) by_target_[entry.target] = Holder::host_tree;
    if (entry.kind == EntryKind::proc)
      by_target_[entry.target] = Holder::host_tree;  // the kernel's: nothing is made in it
    if (entry.kind == EntryKind::tmpfs) by_target_[entry.target] = Holder::memory;
  }
}

Holder Holders::of(const ViewEntry& entry) const {
  for (std::string_view above = parent_of(entry.target); above != "/"; above = parent_of(above)) {
    if (const auto found = by_target_.find(above); found != by_target_.end()) return found->second;
  }
  return Holder::root;
}

}  // namespace cloche
