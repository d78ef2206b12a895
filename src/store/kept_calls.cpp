#include "store/kept_calls.hpp"

#include "base/json.hpp"
#include "base/json_text.hpp"
#include "base/random_word.hpp"
#include "base/shown.hpp"

namespace cloche {
namespace {

constexpr const char* shelf_name = "calls";
constexpr size_t id_letters = 26;               // 130 bits
constexpr size_t most_bytes = size_t{8} << 20;  // a mebibyte of script, each byte escaped
constexpr JsonLimits file_limits{.bytes = most_bytes, .comments = JsonComments::refused};

struct Field {
  const char* name;
  std::string KeptCall::*text;
};
constexpr Field fields[] = {
    {"tool", &KeptCall::tool},           {"arguments", &KeptCall::arguments},
    {"workspace", &KeptCall::workspace}, {"directory", &KeptCall::directory},
    {"task", &KeptCall::task},           {"profile", &KeptCall::profile},
    {"approved", &KeptCall::approved},
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

Result<Read> read_call(const Shelf& shelf, const std::string& id) {
  const std::string text = TRY(shelf.read(id, most_bytes));
  const JsonValue value = TRY(read_json(text, id, file_limits));
  Read read;
  if (const JsonValue* expires = value.find("expires_ms"); expires != nullptr && expires->integer > 0)
    read.expires_ms = static_cast<uint64_t>(expires->integer);
  for (const auto& field : fields) {
    const JsonValue* member = value.find(field.name);
    if (member == nullptr || !member->is_string())
      return refusal("a call that was kept has no " + std::string(field.name));
    read.call.*field.text = member->text;
  }
  return read;
}

}  // namespace

Result<KeptCalls> KeptCalls::open(const std::string& state, const KeptCallTerms& terms) {
  return KeptCalls(TRY(Shelf::open(state, shelf_name)), terms);
}

void KeptCalls::prune(uint64_t now_ms) const {
  for (const auto& id : shelf_.names()) {
    const auto read = read_call(shelf_, id);
    if (!read.ok() || read.value().expires_ms <= now_ms) (void)shelf_.remove(id);
  }
}

Result<std::string> KeptCalls::keep(const KeptCall& call, uint64_t now_ms) const {
  const auto held = TRY(shelf_.lock());
  // Each was judged and not started: an agent that is stopped leaves some. Looked through when there are
  // many.
  if (shelf_.names().size() >= terms_.most / 2) prune(now_ms);
  if (shelf_.names().size() >= terms_.most)
    return refusal("too many calls were judged and never started", "start them, or wait an hour");
  auto id = TRY(random_word(id_letters));
  TRY(shelf_.put(id, text_of(call, now_ms + terms_.good_for_ms)));
  return id;
}

Result<KeptCall> KeptCalls::take(const std::string& id, uint64_t now_ms) const {
  const Error unknown = refusal("there is no call '" + shown(id, 80) + "', or it was started already",
                                "let the agent make the call again");
  if (id.size() != id_letters || !is_plain_id(id)) return unknown;
  const auto held = TRY(shelf_.lock());
  auto read = read_call(shelf_, id);
  if (!read.ok()) return read.error().number == ENOENT ? unknown : read.error();
  TRY(shelf_.remove(id));  // first: whatever happens now, it is not given out again
  if (read.value().expires_ms <= now_ms)
    return refusal("the call " + id + " was judged too long ago", "let the agent make the call again");
  return std::move(read).value().call;
}

}  // namespace cloche
