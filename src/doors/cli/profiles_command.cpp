// `cloche profiles`: the sandbox profiles listed, shown, and their examples run.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/checks/profile_check.hpp"
#include "gateway/configuration/configuration.hpp"
#include "store/config/profile_files.hpp"

namespace cloche {
namespace {

using Expect = ProfileExample::Expect;
using Names = std::vector<std::string>;

struct ProfilesArguments {
  enum class Action { list, show, check };
  Action action = Action::list;
  Names names = {};
  bool json = false;
  bool help = false;
};

constexpr Option<ProfilesArguments> options[] = {
    {"--json", "", "Print JSON on stdout.", raise<&ProfilesArguments::json>}, help_option<ProfilesArguments>};

}  // namespace

HelpPage profiles_help() {
  std::vector<HelpRow> rows = {{"list", "The profiles, with what each is for (default)."},
                               {"show NAME|FILE", "All of one profile."},
                               {"check [NAME|FILE]...", "Run the examples of these, or of all."}};

  return {
      .usage = "cloche profiles [list | show NAME|FILE | check [NAME|FILE]...] [--json]",
      .about =
          "A sandbox profile says where a command may write and whether it has network. Three come with "
          "Cloche; yours are files NAME.json in profiles_dir of the configuration. `check` runs the "
          "examples under the profile in a scratch workspace, and prints file:line of each that did not "
          "behave as expected.",
      .rows = std::move(rows) + rows_of<ProfilesArguments>(options),
      .notes =
          "Exit code 0 when all hold, 1 when one does not, 125 when a profile cannot be read, 2 bad usage.",
      .examples = {"cloche profiles list", "cloche profiles show readonly",
                   "cloche profiles check readonly ./mine.json", "cloche run --profile readonly -- git log"}};
}

namespace {

Result<ProfilesArguments> parse(std::span<char* const> words) {
  using Action = ProfilesArguments::Action;
  ProfilesArguments arguments;
  const auto plain =
      TRY(read_options(arguments, words, options, OptionsEnd::dashes, "see cloche profiles --help"));
  if (arguments.help) return arguments;
  const std::string action = plain.empty() ? "list" : plain.front();
  arguments.names.assign(plain.begin() + (plain.empty() ? 0 : 1), plain.end());
  const size_t given = arguments.names.size();
  if (action == "list" && given == 0) {
    arguments.action = Action::list;
  } else if (action == "show" && given == 1) {
    arguments.action = Action::show;
  } else if (action == "check") {
    arguments.action = Action::check;
  } else {
    return usage_error("the actions are list, show NAME|FILE and check [NAME|FILE]...",
                       "see cloche profiles --help");
  }
  return arguments;
}

std::string_view access_of(const SandboxProfile& profile) { return profile.writes ? "write" : "read"; }
std::string_view network_of(const SandboxProfile& profile) { return profile.network ? "declared" : "none"; }
std::string_view name_of(Expect expect) { return expect == Expect::allow ? "allow" : "deny"; }

void write_profile(JsonWriter& out, const SandboxProfile& profile) {
  out.begin_object().member("name", profile.name).member("source", profile.source);
  out.member("description", profile.description).key("extends");
  profile.extends.empty() ? out.null() : out.value(profile.extends);
  out.member("workspace", access_of(profile)).member("network", network_of(profile));
  for (const bool writable : {false, true}) {
    out.key(writable ? "rw" : "ro").begin_array();
    for (const auto& grant : profile.grants)
      if (grant.writable == writable) out.value(grant.source);
    out.end_array();
  }
  out.key("limits").begin_object();
  for (const auto& limit : profile.limits)
    out.member(info_of(limit.id).name, show_limit(limit.id, limit.value));
  out.end_object().key("isolation");
  profile.isolation ? out.value(cloche::name_of(*profile.isolation)) : out.null();
  out.key("examples").begin_array();
  for (const auto& example : profile.examples)
    out.begin_object().member("argv", example.argv).member("expect", name_of(example.expect)).end_object();
  out.end_array().end_object();
}

std::string profiles_table(const Profiles& profiles, const Screen& screen) {
  constexpr size_t name_width = 28;
  std::string text;
  for (const auto& profile : profiles)
    text += fitted(padded(profile.name, name_width) + on_one_line(profile.description) + "\n", name_width,
                   screen);
  return text;
}

std::string profile_json(const SandboxProfile& profile) {
  JsonWriter out(JsonWriter::Layout::indented);
  write_profile(out, profile);
  return out.text();
}

std::string profile_text(const SandboxProfile& profile) {
  const auto line = [](const std::string& key, const std::string& value) {
    return padded(key, 12) + on_one_line(value) + "\n";
  };
  std::string text = line(profile.name, profile.description);
  text += line("source", profile.source);
  if (!profile.extends.empty()) text += line("extends", profile.extends);
  text += line("workspace", std::string(access_of(profile)));
  text += line("network", std::string(network_of(profile)));
  for (const auto& grant : profile.grants) text += line(grant.writable ? "rw" : "ro", grant.source);
  for (const auto& limit : profile.limits)
    text += line("limit", std::string(info_of(limit.id).name) + " " + show_limit(limit.id, limit.value));
  if (profile.isolation) text += line("isolation", std::string(cloche::name_of(*profile.isolation)));
  for (const auto& example : profile.examples)
    text += line(example.expect == Expect::allow ? "allows" : "denies",
                 quote_words(example.argv) + (example.why.empty() ? "" : "    # " + example.why));
  return text;
}

// A path or the name of a file, as against the name of a profile.
bool is_file(const std::string& word) {
  return word.find('/') != std::string::npos || word.ends_with(".json") || word.ends_with(".sb");
}

Result<SandboxProfile> named_profile(const std::string& word, const Profiles& known,
                                     const Environment& environment) {
  if (is_file(word)) return load_profile_file(word, known, environment.get("HOME"));
  const SandboxProfile* profile = find_profile(known, word);
  if (profile == nullptr) return usage_error("no such profile: " + word, "known are " + names_of(known));
  return *profile;
}

// The operator may believe that these files count.
void note_ignored_files(const std::optional<std::string>& folder) {
  if (!folder) return;
  for (const auto& name : passed_over_in(*folder))
    complain("note: " + visible(*folder + "/" + name) +
             " is ignored: a profile is a file NAME.json, and NAME begins with no dot");
}

struct Tally {
  size_t examples = 0;
  size_t failures = 0;
};

void check_one(const SandboxProfile& profile, const Settings& settings, const Environment& environment,
               const Installation& installation, Tally& tally, JsonWriter* json) {
  const auto answers = check_profile(profile, settings, environment, installation);
  if (!answers.ok()) {
    ++tally.failures;
    if (json != nullptr) {
      json->begin_object().member("profile", profile.name).member("holds", false);
      json->member("fault", describe(answers.error())).end_object();
    } else {
      print("FAILED  " + on_one_line(profile.source + ": " + describe(answers.error())) + "\n");
    }
    return;
  }
  size_t failed = 0;
  for (const auto& [place, example, fault] : answers.value()) {
    failed += fault.empty() ? 0 : 1;
    if (json != nullptr) {
      json->begin_object().member("profile", profile.name).member("place", place);
      json->member("command", quote_words(example.argv)).member("expect", name_of(example.expect));
      json->member("holds", fault.empty()).member("fault", fault).end_object();
    } else if (!fault.empty()) {
      print("FAILED  " +
            on_one_line(place + ": " + quote_words(example.argv) + ": expected " +
                        std::string(name_of(example.expect)) + ", and " + fault) +
            "\n");
    }
  }
  tally.examples += answers.value().size();
  tally.failures += failed;
  if (json == nullptr)
    print((failed == 0 ? "ok      " : "        ") + on_one_line(profile.source) + ": " +
          std::to_string(answers.value().size()) + " examples run\n");
}

Result<bool> check_all(const ProfilesArguments& arguments, const Configuration& configuration,
                       const Environment& environment, const Installation& installation) {
  const Profiles& known = configuration.profiles;
  Profiles chosen = arguments.names.empty() ? known : Profiles{};
  for (const auto& name : arguments.names) chosen.push_back(TRY(named_profile(name, known, environment)));
  Tally tally;
  JsonWriter out;
  out.begin_object().key("examples").begin_array();
  for (const auto& profile : chosen)
    check_one(profile, configuration.settings, environment, installation, tally,
              arguments.json ? &out : nullptr);
  const bool holds = tally.failures == 0;
  if (arguments.json) {
    print(out.end_array().member("holds", holds).end_object().text() + "\n");
  } else {
    print(std::to_string(tally.examples) +
          " examples: " + (holds ? "all hold" : std::to_string(tally.failures) + " failed") + "\n");
  }
  return holds;
}

Result<int> carry_out(const ProfilesArguments& arguments, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  // Without a workspace: a project's file narrows nothing here.
  Configuration configuration = TRY(load_configuration(environment, installation, ""));
  for (auto& profile : configuration.profiles) profile = TRY(with_examples(profile));
  const Profiles& known = configuration.profiles;
  if (arguments.action != ProfilesArguments::Action::show)
    note_ignored_files(configuration.settings.profiles_dir.value);
  switch (arguments.action) {
    case ProfilesArguments::Action::list: {
      JsonWriter out;
      out.begin_array();
      for (const auto& profile : known) write_profile(out, profile);
      print(arguments.json ? out.end_array().text() + "\n"
                           : profiles_table(known, screen_of_output(environment)));
      break;
    }
    case ProfilesArguments::Action::show: {
      const SandboxProfile profile = TRY(named_profile(arguments.names[0], known, environment));
      print(arguments.json ? profile_json(profile) + "\n"
                           : fitted(profile_text(profile), 12, screen_of_output(environment)));
      break;
    }
    case ProfilesArguments::Action::check:
      return TRY(check_all(arguments, configuration, environment, installation)) ? 0 : 1;
  }
  return 0;
}

}  // namespace

int profiles_command(std::span<char* const> words, const Environment& environment) {
  const auto parsed = parse(words);
  if (parsed.ok() && parsed.value().help) return print_all(text_of(profiles_help()), 0);
  const auto code = parsed.ok() ? carry_out(parsed.value(), environment) : Result<int>(parsed.error());
  return code.ok() ? code.value() : report(code.error());
}

}  // namespace cloche
