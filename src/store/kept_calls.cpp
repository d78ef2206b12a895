#include "store/kept_calls.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/random_word.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr const char* shelf_name = "calls";
constexpr const char* spent_ending = ".spent";
constexpr size_t id_letters = 26;  // 130 bits
constexpr size_t most_bytes = size_t{32}
                              << 20;  // a mebibyte of script, each byte escaped, and what it was asked with
constexpr size_t most_mark_bytes = 100;
constexpr size_t most_marks = 20'000;        // of an hour without a pause
constexpr size_t marks_between_looks = 256;  // then those that have become old go
constexpr JsonLimits file_limits{.bytes = most_bytes, .comments = JsonComments::refused};

struct Field {
  const char* name;
  std::string KeptCall::*text;
};
constexpr Field fields[] = {
    {"tool", &KeptCall::tool},           {"arguments", &KeptCall::arguments},
    {"asked", &KeptCall::asked},         {"input", &KeptCall::input},
    {"workspace", &KeptCall::workspace}, {"directory", &KeptCall::directory},
    {"task", &KeptCall::task},           {"profile", &KeptCall::profile},
    {"isolation", &KeptCall::isolation}, {"rung", &KeptCall::rung},
    {"approved", &KeptCall::approved},   {"agent", &KeptCall::agent},
    {"session", &KeptCall::session},     {"subagent", &KeptCall::subagent},
    {"stands", &KeptCall::stands},       {"end_file", &KeptCall::end_file},
    {"identity", &KeptCall::identity},   {"answered_by", &KeptCall::answered_by},
    {"note", &KeptCall::note},
};

std::string text_of(const KeptCall& call, uint64_t expires_ms) {
  JsonWriter out;
  out.begin_object().member("expires_ms", expires_ms);
  for (const auto& field : fields) out.member(field.name, call.*field.text);
  return out.end_object().take();
}

struct Read {
  KeptCall call = {};
  uint64_t expires_ms = 0;
};

uint64_t time_in(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.find(name);
  return member != nullptr && member->whole && member->integer > 0 ? static_cast<uint64_t>(member->integer)
                                                                   : 0;
}

Result<Read> read_call(const Shelf& shelf, const std::string& id) {
  const std::string text = TRY(shelf.read(id, most_bytes));
  const JsonValue value = TRY(read_json(text, id, file_limits));
  Read read{.expires_ms = time_in(value, "expires_ms")};
  for (const auto& field : fields) {
    const JsonValue* member = value.find(field.name);
    if (member == nullptr || !member->is_string())
      return refusal("a call that was kept has no " + std::string(field.name));
    read.call.*field.text = member->text;
  }
  return read;
}

// From when the mark is of no more use, because the call has expired; at once if it cannot be read.
uint64_t mark_until(const Shelf& shelf, const std::string& name) {
  const auto text = shelf.read(name, most_mark_bytes);
  const auto value = text.ok() ? read_json(text.value(), name, file_limits) : Result<JsonValue>(text.error());
  return value.ok() ? time_in(value.value(), "until_ms") : 0;
}

bool is_mark(const std::string& name) { return name.ends_with(spent_ending); }

struct Count {
  size_t calls = 0;
  size_t marks = 0;
};
Count count_of(const std::vector<std::string>& names) {
  const auto marks = static_cast<size_t>(std::count_if(names.begin(), names.end(), is_mark));
  return {names.size() - marks, marks};
}

}  // namespace

Result<KeptCalls> KeptCalls::open(const std::string& state, const KeptCallTerms& terms) {
  return KeptCalls(TRY(Shelf::open(state, shelf_name)), terms);
}

void KeptCalls::prune(uint64_t now_ms) const {
  for (const auto& name : shelf_.names()) {
    uint64_t until = 0;
    if (is_mark(name)) {
      until = mark_until(shelf_, name);
    } else if (const auto read = read_call(shelf_, name); read.ok()) {
      until = read.value().expires_ms;
    }
    if (until <= now_ms) (void)shelf_.remove(name);
  }
}

Result<void> KeptCalls::make_room(uint64_t now_ms) const {
  Count count = count_of(shelf_.names());
  // Each call was judged and not started: an agent that is stopped leaves some. Looked through when there are
  // many.
  if (count.calls >= terms_.most / 2 || count.marks % marks_between_looks == marks_between_looks - 1) {
    prune(now_ms);
    count = count_of(shelf_.names());
  }
  if (count.calls >= terms_.most)
    return refusal("too many calls were judged and never started", "start them, or wait an hour");
  if (count.marks >= most_marks) return refusal("too many calls were started within an hour", "wait a while");
  return {};
}

Result<std::string> KeptCalls::keep(const KeptCall& call, uint64_t now_ms) const {
  const auto held = TRY(shelf_.lock());
  TRY(make_room(now_ms));
  auto id = TRY(random_word(id_letters));
  TRY(shelf_.put(id, text_of(call, now_ms + terms_.good_for_ms)));
  return id;
}

// Whatever is there but cannot be read is a mark as well.
bool KeptCalls::is_spent(const std::string& id) const {
  const auto mark = shelf_.read(id + spent_ending, most_mark_bytes);
  return mark.ok() || mark.error().number != ENOENT;
}

Result<void> KeptCalls::spend(const std::string& id, uint64_t until_ms) const {
  JsonWriter mark;
  mark.begin_object().member("until_ms", until_ms).end_object();
  TRY(shelf_.put(id + spent_ending, mark.text()));
  return shelf_.remove(id);
}

Result<KeptCall> KeptCalls::take(const std::string& id, uint64_t now_ms) const {
  const Error unknown = refusal("there is no call '" + shown(id, 80) +
                                "', or it was started already: the agent has to make the call again");
  if (id.size() != id_letters || !is_plain_id(id)) return unknown;
  const auto held = TRY(shelf_.lock());
  if (is_spent(id)) return unknown;
  auto read = read_call(shelf_, id);
  if (!read.ok()) return read.error().number == ENOENT ? unknown : read.error();
  // The mark first: whatever happens after it, and whoever puts a copy back, it is not given out again.
  TRY(spend(id, read.value().expires_ms));
  if (read.value().expires_ms <= now_ms)
    return refusal("the call " + id + " was judged too long ago: the agent has to make the call again");
  return std::move(read).value().call;
}

}  // namespace cloche
