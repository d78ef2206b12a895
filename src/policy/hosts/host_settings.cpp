#include "policy/hosts/host_settings.hpp"

#include "base/lists.hpp"
#include "policy/hosts/declared_hosts.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

class HostReader {
 public:
  HostReader(std::string_view key, const std::string& source) : key_(key), source_(source) {}

  // An entry as words of --net.
  Result<Words> words_of(const JsonValue& item) const {
    if (item.is_string()) return Words{item.text};
    if (!item.is_object())
      return fail(item, "an entry is a host, or an object with host, addresses and ports");
    TRY(refuse_unknown_keys(item, {"host", "addresses", "ports"}, source_));
    Words words = {TRY(required_text(item, "host", source_))};
    if (words.front().find_first_of(":@") != std::string::npos) return fail(item, "host is a name alone");
    if (const JsonValue* addresses = item.find("addresses"))
      words =
          TRY(with_each(words, '@', *addresses, JsonValue::Kind::string, "addresses are a list of texts"));
    if (const JsonValue* ports = item.find("ports"))
      words = TRY(with_each(words, ':', *ports, JsonValue::Kind::number, "ports are a list of numbers"));
    return words;
  }

  Error fail(const JsonValue& value, std::string_view what) const {
    return json_error(source_, value.line, std::string(key_) + ": " + std::string(what));
  }

 private:
  // An empty list would say that there is none, and have no effect.
  Result<Words> with_each(const Words& words, char mark, const JsonValue& list, JsonValue::Kind kind,
                          std::string_view otherwise) const {
    if (!list.is_array() || list.items.empty()) return fail(list, otherwise);
    Words longer;
    for (const auto& one : list.items) {
      if (one.kind != kind) return fail(one, otherwise);
      for (const auto& word : words) longer.push_back(word + mark + one.text);
    }
    return longer;
  }

  std::string_view key_;
  const std::string& source_;
};

}  // namespace

Result<HostSettings> read_host_settings(const JsonValue& list, std::string_view key,
                                        const std::string& source) {
  const HostReader reader(key, source);
  if (!list.is_array()) return reader.fail(list, "is not a list");
  HostSettings settings;
  Words hosts;  // only to see that they can be declared
  for (const auto& item : list.items) {
    for (const auto& word : TRY(reader.words_of(item))) {
      if (const auto declared = declare_reach(hosts, settings.ranges, word); !declared.ok())
        return reader.fail(item, declared.error().what.text());
      std::string plain = without_range(word);
      if (!contains(settings.words, plain)) settings.words.push_back(std::move(plain));
    }
  }
  return settings;
}

}  // namespace cloche
