#include "store/sealed/pending_commands.hpp"

#include <algorithm>

#include "base/json/json_members.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/random_word.hpp"

namespace cloche {
namespace {

constexpr const char* folder_name = "calls";
constexpr const char* spent_ending = ".spent";
constexpr size_t id_letters = 26;  // 130 bits
// A mebibyte of script, each byte escaped, and the agent's own arguments.
constexpr size_t most_bytes = size_t{32} << 20;
constexpr size_t most_mark_bytes = 100;
constexpr size_t marks_between_prunings = 256;

struct Field {
  const char* name;
  std::string PendingCommand::*text;
};
constexpr Field fields[] = {
    {"tool", &PendingCommand::tool},           {"arguments", &PendingCommand::arguments},
    {"asked", &PendingCommand::asked},         {"input", &PendingCommand::input},
    {"workspace", &PendingCommand::workspace}, {"directory", &PendingCommand::directory},
    {"task", &PendingCommand::task},           {"profile", &PendingCommand::profile},
    {"isolation", &PendingCommand::isolation}, {"rung", &PendingCommand::level},
    {"approved", &PendingCommand::approved},   {"agent", &PendingCommand::agent},
    {"session", &PendingCommand::session},     {"subagent", &PendingCommand::subagent},
    {"stands", &PendingCommand::stands},       {"end_file", &PendingCommand::end_file},
    {"identity", &PendingCommand::identity},   {"answered_by", &PendingCommand::answered_by},
    {"note", &PendingCommand::note},           {"background", &PendingCommand::background},
};

std::string text_of(const PendingCommand& call, uint64_t expires_ms) {
  JsonWriter out;
  out.begin_object().member("expires_ms", expires_ms);
  for (const auto& field : fields) out.member(field.name, call.*field.text);
  return out.end_object().take();
}

struct Read {
  PendingCommand call = {};
  uint64_t expires_ms = 0;
};

Result<Read> read_call(const SealedFiles& files, const std::string& id) {
  const JsonValue value = TRY(files.read_json(id, most_bytes));
  Read read{.expires_ms = number_of(value, "expires_ms")};
  for (const auto& field : fields) {
    const JsonValue* member = value.find(field.name);
    if (member == nullptr || !member->is_string())
      return refusal("the stored call " + id + " has no " + std::string(field.name));
    read.call.*field.text = member->text;
  }
  return read;
}

// When the call expires and its mark is no longer needed; 0 where the mark cannot be read.
uint64_t mark_until(const SealedFiles& files, const std::string& name) {
  const auto value = files.read_json(name, most_mark_bytes);
  return value.ok() ? number_of(value.value(), "until_ms") : 0;
}

bool is_mark(const std::string& name) { return name.ends_with(spent_ending); }

PendingCount count_of(const std::vector<std::string>& names) {
  const auto marks = static_cast<size_t>(std::count_if(names.begin(), names.end(), is_mark));
  return {names.size() - marks, marks};
}

}  // namespace

Result<PendingCommands> PendingCommands::open(const std::string& state, const PendingTerms& terms) {
  return PendingCommands(TRY(SealedFiles::open(state, folder_name)), terms);
}

void PendingCommands::prune(uint64_t now_ms) const {
  for (const auto& name : files_.names()) {
    uint64_t until = 0;
    if (is_mark(name)) {
      until = mark_until(files_, name);
    } else if (const auto read = read_call(files_, name); read.ok()) {
      until = read.value().expires_ms;
    }
    if (until <= now_ms) (void)files_.remove(name);
  }
}

Result<void> PendingCommands::make_room(uint64_t now_ms) const {
  PendingCount count = count_of(files_.names());
  // An agent that is stopped leaves calls that it never starts. Reading them all is for when there are many.
  if (count.waiting >= terms_.most / 2 ||
      count.started % marks_between_prunings == marks_between_prunings - 1) {
    prune(now_ms);
    count = count_of(files_.names());
  }
  return judge_room(count, terms_);
}

Result<std::string> PendingCommands::add(const PendingCommand& call, uint64_t now_ms) const {
  const auto held = TRY(files_.lock());
  TRY(make_room(now_ms));
  auto id = TRY(random_word(id_letters));
  TRY(files_.put(id, text_of(call, now_ms + terms_.good_for_ms)));
  return id;
}

// A mark that cannot be read counts as one.
bool PendingCommands::is_spent(const std::string& id) const {
  const auto mark = files_.read(id + spent_ending, most_mark_bytes);
  return mark.ok() || mark.error().number != ENOENT;
}

Result<void> PendingCommands::spend(const std::string& id, uint64_t until_ms) const {
  JsonWriter mark;
  mark.begin_object().member("until_ms", until_ms).end_object();
  TRY(files_.put(id + spent_ending, mark.text()));
  return files_.remove(id);
}

Result<PendingCommand> PendingCommands::take(const std::string& id, uint64_t now_ms) const {
  const auto held = TRY(files_.lock());
  PendingFact fact{.id = id};
  Read found;
  const bool is_id = id.size() == id_letters && is_plain_id(id);
  if (auto read = is_id && !is_spent(id) ? read_call(files_, id) : system_error("find a call", ENOENT);
      read.ok() || read.error().number != ENOENT) {
    if (!read.ok()) return read.take_error();
    found = std::move(read).value();
    fact.waits = true;
    fact.expired = found.expires_ms <= now_ms;
    // The mark comes first: if a later step fails, the command is not given out again.
    TRY(spend(id, found.expires_ms));
  }
  TRY(judge_pending(fact));
  return std::move(found.call);
}

}  // namespace cloche
