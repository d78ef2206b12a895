// The options of a command: one table, from which the words are read and --help is made. So every option that
// parses is in the help, and the reverse.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/text/near_word.hpp"
#include "doors/cli/screen.hpp"
#include "doors/hook/agent_environment.hpp"
#include "model/limits.hpp"
#include "model/run_request.hpp"

namespace cloche {

template <typename Arguments>
struct Option {
  std::string_view names;  // "--json", "-e, --env"; empty: a heading of the help, which `help` has
  std::string_view value;  // what follows it, as "DIR"; empty: it takes no value
  std::string_view help;
  Result<void> (*store)(Arguments& arguments, const std::string& value) = nullptr;
  unsigned commands = ~0U;  // of the commands that share the table, a bit for each that has it
};

// Several tables that are read as one; a command has the rows with its bit.
template <typename Arguments>
struct OptionTables {
  OptionTables(std::vector<std::span<const Option<Arguments>>> several, unsigned which = ~0U)
      : tables(std::move(several)), command(which) {}
  template <size_t rows>
  OptionTables(const Option<Arguments> (&one)[rows], unsigned which = ~0U) : tables{one}, command(which) {}

  std::vector<std::span<const Option<Arguments>>> tables;
  unsigned command;

  const Option<Arguments>* find(std::string_view name) const;
  std::vector<std::string_view> names() const;
};

// Where the options end: at the first other word, with which the words of another program begin, or only at
// "--".
enum class OptionsEnd { first_word, dashes };

// Stores every option and returns the other words. `see` is said with each usage error, as "see cloche run
// --help".
template <typename Arguments>
Result<std::vector<char*>> read_options(Arguments& arguments, std::span<char* const> words,
                                        const std::type_identity_t<OptionTables<Arguments>>& tables,
                                        OptionsEnd end, const std::string& see);

// The first word of a command that does several things.
template <typename Action>
struct ActionName {
  std::string_view name;
  Action action;
  std::string_view value;  // what follows it
  std::string_view help;
};
template <typename Action>
Result<Action> read_action(std::span<const ActionName<Action>> actions, std::string_view word,
                           const std::string& see) {
  for (const auto& row : actions) {
    if (row.name == word) return row.action;
  }
  std::vector<std::string_view> known;
  for (const auto& row : actions) known.push_back(row.name);
  return usage_error("unknown action '" + std::string(word) + "'" + did_you_mean(word, known), see);
}

// For words that do not parse: whether they ask for JSON all the same.
bool ask_for_json(std::span<char* const> words);

// ---- Ready-made for tables

// Into the member, or the member of a member; an empty text is refused.
template <auto... members, typename Arguments>
Result<void> keep(Arguments& arguments, const std::string& value) {
  if (value.empty()) return usage_error("a flag has an empty value");
  (arguments.*....*members) = value;
  return {};
}
// Behind what the member has already.
template <auto... members, typename Arguments>
Result<void> add(Arguments& arguments, const std::string& value) {
  if (value.empty()) return usage_error("a flag has an empty value");
  (arguments.*....*members).push_back(value);
  return {};
}
template <auto member, typename Arguments>
Result<void> raise(Arguments& arguments, const std::string&) {
  arguments.*member = true;
  return {};
}

template <typename Arguments>
inline constexpr Option<Arguments> help_option{"-h, --help", "", "Show this text.", raise<&Arguments::help>};

constexpr std::string_view value_of(LimitInfo::Unit unit) {
  if (unit == LimitInfo::Unit::bytes) return "SIZE";
  return unit == LimitInfo::Unit::count ? "N" : "TIME";
}

// The limits of a request: a row each, from their one table.
template <typename Arguments, RunRequest& (*request)(Arguments&), size_t at>
Result<void> store_limit(Arguments& arguments, const std::string& value) {
  request(arguments).said_limits.push_back(limit_table[at].id);
  return set_limit(request(arguments).limits, limit_table[at], value);
}
template <typename Arguments, RunRequest& (*request)(Arguments&)>
inline constexpr auto limit_options = []<size_t... at>(std::index_sequence<at...>) {
  return std::array{Option<Arguments>{limit_table[at].flag, value_of(limit_table[at].unit),
                                      limit_table[at].what, store_limit<Arguments, request, at>}...};
}
(std::make_index_sequence<std::size(limit_table)>());

// The flags for the operator's directories. doors/hook/agent_environment.hpp has read them; here they are
// only counted.
template <typename Arguments>
Result<void> count_place(Arguments& arguments, const std::string&) {
  ++arguments.places;
  return {};
}
template <typename Arguments>
inline constexpr auto place_options = []<size_t... at>(std::index_sequence<at...>) {
  return std::array{Option<Arguments>{place_flags[at].flag, place_flags[at].value, place_flags[at].help,
                                      count_place<Arguments>}...};
}
(std::make_index_sequence<std::size(place_flags)>());

// ---- Help

// A row of the help: what stands left, and a sentence that is wrapped beside it; without the first a heading.
struct HelpRow {
  std::string left;
  std::string help;
};
template <typename Arguments>
std::vector<HelpRow> rows_of(const OptionTables<Arguments>& tables);
template <typename Action>
std::vector<HelpRow> rows_of(std::span<const ActionName<Action>> actions) {
  std::vector<HelpRow> rows;
  for (const auto& row : actions)
    rows.push_back({std::string(row.name) + (row.value.empty() ? "" : " ") + std::string(row.value),
                    std::string(row.help)});
  return rows;
}
std::vector<HelpRow> operator+(std::vector<HelpRow> rows, std::vector<HelpRow> behind);
// With "(default 512M)" behind each row that is a limit.
void show_defaults(std::vector<HelpRow>& rows, const Limits& defaults);

struct HelpPage {
  std::string_view usage;                       // a line each
  std::string_view about;                       // paragraphs, a line each
  std::vector<HelpRow> rows = {};               // words and options
  std::string notes = {};                       // paragraphs
  std::vector<std::string_view> examples = {};  // command lines
};
// As wide as the terminal, between 40 and 100 columns.
Screen help_screen();
std::string text_of(const HelpPage& page, const Screen& screen = help_screen());
// Aligned in two columns.
std::string text_of(const std::vector<HelpRow>& rows, const Screen& screen = help_screen());

// ---- How it is done

// Takes the first of "-e, --env" off the front.
std::string_view take_name(std::string_view& names);
bool has_name(std::string_view names, std::string_view name);

template <typename Arguments>
const Option<Arguments>* OptionTables<Arguments>::find(std::string_view name) const {
  for (const auto& table : tables) {
    for (const auto& option : table) {
      if ((option.commands & command) != 0 && has_name(option.names, name)) return &option;
    }
  }
  return nullptr;
}

template <typename Arguments>
std::vector<std::string_view> OptionTables<Arguments>::names() const {
  std::vector<std::string_view> all;
  for (const auto& table : tables) {
    for (const auto& option : table) {
      if ((option.commands & command) == 0) continue;
      for (std::string_view rest = option.names; !rest.empty();) all.push_back(take_name(rest));
    }
  }
  return all;
}

template <typename Arguments>
Result<std::vector<char*>> read_options(Arguments& arguments, std::span<char* const> words,
                                        const std::type_identity_t<OptionTables<Arguments>>& tables,
                                        OptionsEnd end, const std::string& see) {
  std::vector<char*> others;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string word = words[at];
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (word == "--" || (!is_option && end == OptionsEnd::first_word)) {
      others.insert(others.end(), words.begin() + static_cast<long>(at) + (word == "--" ? 1 : 0),
                    words.end());
      break;
    }
    if (!is_option) {
      others.push_back(words[at]);
      continue;
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option<Arguments>* option = tables.find(name);
    if (option == nullptr)
      return usage_error("unknown flag " + name + did_you_mean(name, tables.names()), see);
    const bool apart = equals == std::string::npos;
    if (option->value.empty() && !apart) return usage_error(name + " takes no value", see);
    std::string value = apart ? std::string() : word.substr(equals + 1);
    if (!option->value.empty() && apart) {
      if (++at == words.size()) return usage_error(name + " needs a value", see);
      value = words[at];
    }
    TRY(option->store(arguments, value));
    if constexpr (requires { arguments.flags; })
      arguments.flags.push_back(option->value.empty() ? name : name + "=" + value);
  }
  return others;
}

template <typename Arguments>
std::vector<HelpRow> rows_of(const OptionTables<Arguments>& tables) {
  std::vector<HelpRow> rows;
  for (const auto& table : tables.tables) {
    for (const auto& option : table) {
      if ((option.commands & tables.command) == 0) continue;
      const std::string value = option.value.empty() ? "" : " " + std::string(option.value);
      rows.push_back({std::string(option.names) + value, std::string(option.help)});
    }
  }
  return rows;
}

}  // namespace cloche
