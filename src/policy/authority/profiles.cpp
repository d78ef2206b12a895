#include "policy/authority/profiles.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "model/backend.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/hosts/host_settings.hpp"
#include "policy/shipped_files.hpp"

namespace cloche {
namespace {

using Expect = ProfileExample::Expect;

constexpr std::array<std::string_view, 10> profile_keys = {
    "description", "extends", "workspace", "network", "net", "ro", "rw", "limits", "isolation", "examples"};
constexpr std::array<std::string_view, 4> example_keys = {"argv", "expect", "says", "why"};

class ProfileReader {
 public:
  ProfileReader(const ProfileText& file, const Profiles& known, const std::string& home)
      : file_(file), known_(known), home_(home) {}

  Result<SandboxProfile> read(const JsonValue& root) {
    if (!root.is_object()) return fail(root.line, "a profile must be an object");
    TRY(refuse_unknown(root, profile_keys));
    SandboxProfile profile = TRY(start(root));
    profile.name = file_.name;
    profile.source = file_.source;
    TRY(take_text(root, "description", profile.description));
    TRY(take_right(root, {"workspace", "read", "write"}, profile.writes));
    TRY(take_right(root, {"network", "none", "declared"}, profile.network));
    if (const JsonValue* net = root.find("net")) TRY(take_hosts(*net, profile));
    TRY(take_paths(root, "ro", profile));
    TRY(take_paths(root, "rw", profile));
    if (const JsonValue* limits = root.find("limits")) {
      for (const auto& word : TRY(read_limit_settings(*limits, file_.source))) profile.limits.push_back(word);
    }
    if (const JsonValue* value = root.find("isolation")) TRY(take_isolation(*value, profile));
    if (const JsonValue* examples = root.find("examples")) TRY(take_examples(*examples, profile));
    return profile;
  }

 private:
  // A key with two words, of which the second gives more.
  struct Right {
    std::string_view key;
    std::string_view less;
    std::string_view more;
  };

  Error fail(int line, const std::string& what) const { return json_error(file_.source, line, what); }

  Result<void> refuse_unknown(const JsonValue& object, std::span<const std::string_view> keys) const {
    return refuse_unknown_keys(object, keys, file_.source);
  }

  // What the file starts from: the one that it extends, or what is built in.
  Result<SandboxProfile> start(const JsonValue& root) {
    const JsonValue* extends = root.find("extends");
    if (const auto shipped = shipped_profile(file_.name)) {
      if (extends != nullptr)
        return fail(extends->line, file_.name + " comes with Cloche and extends nothing; use another name");
      const ShippedProfile& row = shipped_profiles[static_cast<size_t>(*shipped)];
      for (const char* key : {"workspace", "network"})
        if (root.find(key) == nullptr) return fail(root.line, std::string(key) + " is missing");
      for (const char* key : {"net", "ro", "rw", "limits", "isolation"})
        if (const JsonValue* value = root.find(key))
          return fail(value->line, std::string(key) + " belongs to a profile that extends this one");
      shipped_ = true;
      return SandboxProfile{.writes = row.writes, .network = row.network};
    }
    if (extends == nullptr) return fail(root.line, "extends is missing: name one of " + names_of(known_));
    const SandboxProfile* base = extends->is_string() ? find_profile(known_, extends->text) : nullptr;
    if (base == nullptr || !base->extends.empty())
      return fail(extends->line, "extends is none of " + names_of(known_));
    SandboxProfile profile = *base;
    profile.extends = base->name;
    profile.examples.clear();  // they are about the other one
    return profile;
  }

  Result<void> take_text(const JsonValue& root, std::string_view key, std::string& into) const {
    const JsonValue* value = root.find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return fail(value->line, std::string(key) + " is not a text");
    into = value->text;
    return {};
  }

  Result<void> take_right(const JsonValue& root, const Right& right, bool& into) const {
    const JsonValue* value = root.find(right.key);
    if (value == nullptr) return {};
    const std::string key(right.key);
    if (!value->is_string() || (value->text != right.less && value->text != right.more))
      return fail(value->line,
                  key + " is not \"" + std::string(right.less) + "\" or \"" + std::string(right.more) + "\"");
    const bool said = value->text == right.more;
    if (shipped_ && said != into)
      return fail(value->line, key + " is not what " + file_.name + " does; extend it in a file of your own");
    if (said && !into) return fail(value->line, key + " is more than the profile that it extends gives");
    into = said;
    return {};
  }

  Result<void> take_hosts(const JsonValue& list, SandboxProfile& profile) const {
    if (!profile.network) return fail(list.line, "net names hosts, and the profile has no network");
    HostSettings said = TRY(read_host_settings(list, "net", file_.source));
    profile.hosts = std::move(said.words);
    profile.ranges = std::move(said.ranges);
    return {};
  }

  Result<void> take_paths(const JsonValue& root, std::string_view key, SandboxProfile& profile) const {
    const JsonValue* list = root.find(key);
    if (list == nullptr) return {};
    const std::string name(key);
    if (!list->is_array()) return fail(list->line, name + " is not a list of paths");
    const bool writable = key == "rw";
    if (writable && !profile.writes && !list->items.empty())
      return fail(list->line, "rw contradicts workspace \"read\": nothing is writable then");
    for (const auto& item : list->items) {
      const bool of_home = item.text.starts_with("~/") && !home_.empty();
      const std::string path = of_home ? home_ + item.text.substr(1) : item.text;
      if (!item.is_string() || !is_plain_absolute(path))
        return fail(item.line, name + " has what is no absolute path without . and ..");
      profile.grants.push_back({.source = path, .writable = writable});
    }
    return {};
  }

  Result<void> take_isolation(const JsonValue& value, SandboxProfile& profile) const {
    profile.isolation = value.is_string() ? level_named(value.text) : std::nullopt;
    if (!profile.isolation)
      return fail(value.line,
                  "isolation is not permissive, subprocess, namespace, container, gvisor or microvm");
    return {};
  }

  Result<void> take_examples(const JsonValue& list, SandboxProfile& profile) const {
    if (!list.is_array()) return fail(list.line, "examples is not a list");
    for (const auto& item : list.items) profile.examples.push_back(TRY(read_example(item)));
    return {};
  }

  Result<ProfileExample> read_example(const JsonValue& item) const {
    if (!item.is_object()) return fail(item.line, "an example is not an object");
    TRY(refuse_unknown(item, example_keys));
    ProfileExample example{.line = item.line};
    const JsonValue* argv = item.find("argv");
    if (argv == nullptr || !argv->is_array() || argv->items.empty())
      return fail(item.line, "argv of an example is not a list of words");
    for (const auto& word : argv->items) {
      if (!word.is_string()) return fail(word.line, "argv of an example is not a list of words");
      example.argv.push_back(word.text);
    }
    const JsonValue* expect = item.find("expect");
    const bool allowed = expect != nullptr && expect->text == "allow";
    if (!allowed && (expect == nullptr || expect->text != "deny"))
      return fail(item.line, "expect of an example is not \"allow\" or \"deny\"");
    example.expect = allowed ? Expect::allow : Expect::deny;
    TRY(take_text(item, "says", example.says));
    TRY(take_text(item, "why", example.why));
    return example;
  }

  const ProfileText& file_;
  const Profiles& known_;
  const std::string& home_;
  bool shipped_ = false;
};

// The grant of these that shows the whole of a path.
const Grant* covering(const std::vector<Grant>& grants, const std::string& path) {
  for (const auto& grant : grants) {
    if (is_beneath(grant.source, path)) return &grant;
  }
  return nullptr;
}

void add_shown_by_both(std::vector<Grant>& both, const std::vector<Grant>& ones,
                       const std::vector<Grant>& others) {
  for (const auto& grant : ones) {
    const Grant* other = covering(others, grant.source);
    if (other == nullptr) continue;
    const bool known =
        std::ranges::any_of(both, [&](const Grant& given) { return given.source == grant.source; });
    if (!known) both.push_back({.source = grant.source, .writable = grant.writable && other->writable});
  }
}

std::string without_comments(std::string_view seatbelt) {
  std::string text;
  bool comment = false;
  for (const char c : seatbelt) {
    if (c == '\n') comment = false;
    if (c == ';') comment = true;
    if (!comment) text += c;
  }
  return text;
}

// Whether a seatbelt text has an (allow ...) about an operation that begins with this.
bool allows(const std::string& text, std::string_view operation) {
  constexpr std::string_view form = "(allow";
  for (size_t at = text.find(form); at != std::string::npos; at = text.find(form, at + 1)) {
    const size_t begin = text.find_first_not_of(" \t\r\n", at + form.size());
    if (begin == std::string::npos) return false;
    // Operations stand before the first filter, which is a list of its own.
    const std::string operations = text.substr(begin, text.find_first_of("()", begin) - begin);
    for (size_t word = 0; word != std::string::npos && word < operations.size();) {
      if (std::string_view(operations).substr(word).starts_with(operation)) return true;
      word = operations.find_first_of(" \t\r\n", word);
      word = word == std::string::npos ? word : operations.find_first_not_of(" \t\r\n", word);
    }
  }
  return false;
}

}  // namespace

SandboxProfile profile_of(const ShippedProfile& row) {
  const std::string name(row.name);
  return {.name = name,
          .source = "share/profiles/" + name + ".json",
          .description = std::string(row.description),
          .writes = row.writes,
          .network = row.network};
}

Result<SandboxProfile> with_examples(const SandboxProfile& profile) {
  if (!shipped_profile(profile.name)) return profile;
  return read_profile({shipped_text(profile.source), profile.source, profile.name}, {}, "");
}

const SandboxProfile* find_profile(const Profiles& profiles, std::string_view name) {
  return find_by(profiles, &SandboxProfile::name, name);
}

std::string names_of(const Profiles& profiles) {
  std::string text;
  for (size_t i = 0; i < profiles.size(); ++i) {
    const bool last = i + 1 == profiles.size();
    text += (i == 0 ? "" : (last ? " and " : ", ")) + profiles[i].name;
  }
  return text;
}

Result<SandboxProfile> read_profile(const ProfileText& file, const Profiles& known, const std::string& home) {
  const JsonValue root = TRY(read_json(file.text, file.source));
  return ProfileReader(file, known, home).read(root);
}

SandboxProfile strictest(const SandboxProfile& one, const SandboxProfile& other) {
  if (one.name == other.name) return one;
  SandboxProfile both{.name = one.name + " and " + other.name};
  both.writes = one.writes && other.writes;
  both.network = one.network && other.network;
  add_shown_by_both(both.grants, one.grants, other.grants);
  add_shown_by_both(both.grants, other.grants, one.grants);
  both.hosts = narrowed_hosts(one.hosts, other.hosts);
  std::ranges::copy_if(one.ranges, std::back_inserter(both.ranges),
                       [&](const std::string& range) { return contains(other.ranges, range); });
  both.limits = one.limits;
  both.limits.insert(both.limits.end(), other.limits.begin(), other.limits.end());
  both.isolation = std::max(one.isolation, other.isolation);
  return both;
}

bool is_within(const SandboxProfile& one, const SandboxProfile& other) {
  if ((one.writes && !other.writes) || (one.network && !other.network)) return false;
  if (other.isolation && one.isolation.value_or(IsolationLevel::namespaces) < *other.isolation) return false;
  const bool shows_no_more = std::ranges::all_of(one.grants, [&](const Grant& grant) {
    const Grant* given = covering(other.grants, grant.source);
    return given != nullptr && (given->writable || !grant.writable);
  });
  if (!shows_no_more) return false;
  const bool reaches_no_more = narrowed_hosts(other.hosts, one.hosts) == one.hosts &&
                               std::ranges::all_of(one.ranges, [&](const std::string& range) {
                                 return contains(other.ranges, range);
                               });
  if (!reaches_no_more) return false;
  return std::ranges::all_of(other.limits, [&](const LimitSetting& most) {
    return std::ranges::any_of(
        one.limits, [&](const LimitSetting& word) { return word.id == most.id && word.value <= most.value; });
  });
}

Profile base_of(const SandboxProfile& profile) {
  if (!profile.writes) return Profile::readonly;
  return profile.network ? Profile::workspace_write : Profile::workspace_write_no_network;
}

void apply_profile(RunRequest& request, const SandboxProfile& profile) {
  request.profile = base_of(profile);
  for (Grant grant : profile.grants) {
    grant.writable = grant.writable && profile.writes;
    request.grants.push_back(std::move(grant));
  }
  if (profile.network)
    request.ranges.insert(request.ranges.end(), profile.ranges.begin(), profile.ranges.end());
  const Limits before = request.limits;
  narrow(request.limits, profile.limits);
  note_lowered(request.lowered_by, before, request.limits, "profile " + profile.name);
  request.isolation = std::max(request.isolation, profile.isolation);
}

std::string_view nearest_profile(std::string_view seatbelt) {
  const std::string text = without_comments(seatbelt);
  if (allows(text, "network") || allows(text, "default")) return name_of(Profile::workspace_write);
  if (allows(text, "file-write") || allows(text, "file*"))
    return name_of(Profile::workspace_write_no_network);
  return name_of(Profile::readonly);
}

Result<void> judge_own_name(const std::string& file, const std::string& name) {
  if (!is_profile_name(name)) return refusal(file + ": its name is not one that a profile can have");
  if (shipped_profile(name))
    return refusal(file + ": the profile " + name + " comes with Cloche", "give yours another name");
  return {};
}

Error seatbelt_refusal(const std::string& file, std::string_view text) {
  return refusal(file + " is a seatbelt profile of macOS, which Linux cannot enforce",
                 "the nearest here is " + std::string(nearest_profile(text)));
}

}  // namespace cloche
