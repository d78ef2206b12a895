#include "tools/declaration.hpp"

#include <algorithm>
#include <optional>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"
#include "policy/authority/capabilities.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {
namespace {

using Family = Capability::Family;

constexpr std::string_view known_families =
    "known are fs:read:PATH, fs:write:PATH, network:https:HOST, network:http:HOST, network:tcp:HOST:PORT, "
    "code:exec, mail:... and time:...";

bool is_without_effect(std::string_view kind) { return kind == "mail" || kind == "time"; }

struct Scheme {
  std::string_view name;
  std::string_view port;  // when the host names none; empty: it must
};
constexpr Scheme schemes[] = {{"https", "443"}, {"http", "80"}, {"tcp", ""}};

const Scheme* find_scheme(std::string_view name) { return find_by(schemes, &Scheme::name, name); }

// One capability, as a string or one hint of an object. The error has no place yet.
class CapabilityReader {
 public:
  CapabilityReader(std::string_view kind, std::string_view mode, std::string_view hint)
      : kind_(kind), mode_(mode), hint_(hint) {}

  Result<Capability> read() const {
    if (kind_ == "fs") return path();
    if (kind_ == "network") return host();
    if (kind_ == "code" && mode_ == "exec" && hint_.empty())
      return Capability{.family = Family::execute, .written = "code:exec"};
    if (is_without_effect(kind_))
      return Capability{.family = Family::no_effect, .hint = std::string(hint_), .written = written()};
    return refusal("the capability " + json_quote(shown(written(), 80)) + " is not known",
                   std::string(known_families));
  }

 private:
  std::string written() const {
    std::string text(kind_);
    if (!mode_.empty()) text += ":" + std::string(mode_);
    if (!hint_.empty()) text += ":" + std::string(hint_);
    return text;
  }

  Result<Capability> path() const {
    if (mode_ != "read" && mode_ != "write")
      return refusal("the capability " + json_quote(shown(written(), 80)) +
                     " is neither fs:read nor fs:write");
    if (const std::string problem = problem_of_hint(hint_); !problem.empty())
      return refusal("the path of " + json_quote(shown(written(), 80)) + " " + problem);
    return Capability{.family = mode_ == "read" ? Family::read : Family::write,
                      .hint = std::string(hint_),
                      .written = written()};
  }

  Result<Capability> host() const {
    const Scheme* scheme = find_scheme(mode_);
    // Without a scheme the mode is the host's name, and the hint its port.
    std::string host(scheme != nullptr || mode_.empty() ? hint_ : mode_);
    if (scheme == nullptr && !mode_.empty() && !hint_.empty()) host += ":" + std::string(hint_);
    if (scheme != nullptr && !host.empty() && host.find(':') == std::string::npos) {
      if (scheme->port.empty())
        return refusal("the capability " + json_quote(shown(written(), 80)) + " names no port");
      host += ":" + std::string(scheme->port);
    }
    if (const ReadHost read = read_declared_host(host); !read)
      return refusal("the capability " + json_quote(shown(written(), 80)) +
                         " names no host: " + std::string(read.problem),
                     "write it like network:https:api.example.org");
    return Capability{.family = Family::network, .hint = host, .written = written()};
  }

  std::string_view kind_;
  std::string_view mode_;
  std::string_view hint_;
};

Result<std::string> member_text(const JsonValue& object, const std::string& source, std::string_view key) {
  const JsonValue* value = object.find(key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return wrong_type(source, *value, key, "a string");
  return value->text;
}

Result<std::vector<std::string>> hints_of(const JsonValue& object, const std::string& source) {
  const JsonValue* hints = object.find("hints");
  if (hints == nullptr) return std::vector<std::string>();
  return read_words(*hints, source, "hints", [](std::string_view) { return std::string(); });
}

Result<Capability> placed(Result<Capability> read, const std::string& source, int line) {
  if (read.ok()) return read;
  return json_error(source, line, describe(read.error()));
}

Result<void> add_object(const JsonValue& object, const std::string& source, std::vector<Capability>& list) {
  TRY(refuse_unknown_keys(object, {"kind", "mode", "hints"}, source));
  const std::string kind = TRY(member_text(object, source, "kind"));
  const std::string mode = TRY(member_text(object, source, "mode"));
  std::vector<std::string> hints = TRY(hints_of(object, source));
  if (object.find("kind") == nullptr)
    return json_error(source, object.line, "a capability needs a kind: fs, network, code, mail or time");
  // An empty list of paths would read as "none" to one and as "all" to another.
  if (hints.empty() && (kind == "fs" || kind == "network"))
    return json_error(source, object.line, "a capability of the kind " + kind + " needs hints");
  if (hints.empty()) hints.emplace_back();
  for (const auto& hint : hints)
    list.push_back(TRY(placed(CapabilityReader(kind, mode, hint).read(), source, object.line)));
  return {};
}

Result<Capability> from_string(const JsonValue& item, const std::string& source) {
  std::string_view rest = item.text;
  const std::string_view kind = take_until(rest, ":");
  const std::string_view mode = take_until(rest, ":");
  return placed(CapabilityReader(kind, mode, rest).read(), source, item.line);
}

}  // namespace

Error wrong_type(const std::string& source, const JsonValue& value, std::string_view key,
                 std::string_view wanted) {
  return json_error(
      source, value.line,
      std::string(key) + " must be " + std::string(wanted) + ", not " + std::string(name_of(value.kind)));
}

Result<std::string> read_text(const JsonValue& value, const std::string& source, std::string_view key,
                              size_t most) {
  if (!value.is_string()) return wrong_type(source, value, key, "a string");
  if (value.text.size() > most)
    return json_error(source, value.line,
                      std::string(key) + " is longer than " + std::to_string(most) + " bytes");
  const bool bad =
      std::ranges::any_of(value.text, [](char c) { return ascii::is_control(c) && c != '\n' && c != '\t'; });
  if (bad) return json_error(source, value.line, std::string(key) + " has a control character in it");
  return value.text;
}

Result<std::vector<std::string>> read_words(
    const JsonValue& value, const std::string& source, std::string_view key,
    const std::function<std::string(std::string_view)>& problem_of_word) {
  if (!value.is_array()) return wrong_type(source, value, key, "a list of strings");
  std::vector<std::string> words;
  for (const auto& item : value.items) {
    if (!item.is_string()) return wrong_type(source, item, "an entry of " + std::string(key), "a string");
    if (const std::string problem = problem_of_word(item.text); !problem.empty())
      return json_error(source, item.line,
                        std::string(key) + ": " + json_quote(shown(item.text, 80)) + " " + problem);
    if (!contains(words, item.text)) words.push_back(item.text);
  }
  return words;
}

Result<std::vector<Capability>> read_capabilities(const JsonValue& value, const std::string& source) {
  if (!value.is_array()) return wrong_type(source, value, "capabilities", "a list");
  std::vector<Capability> list;
  for (const auto& item : value.items) {
    if (item.is_object()) {
      TRY(add_object(item, source, list));
    } else if (item.is_string()) {
      list.push_back(TRY(from_string(item, source)));
    } else {
      return wrong_type(source, item, "a capability", "a string or an object");
    }
  }
  return list;
}

}  // namespace cloche
