#include "doors/hook/agent_environment.hpp"

#include <algorithm>
#include <string_view>

#include "base/lists.hpp"
#include "doors/hook/hook_front.hpp"

namespace cloche {
namespace {

// What is taken from the agent's own environment, and why it can do no harm there.
constexpr std::string_view agents_names[] = {
    "PATH",  // orders toolchains that are shown anyway; Cloche finds its own programs without it
    "TERM",  // handed to the command
    "CLAUDE_PROJECT_DIR",      // Claude Code sets it for each hook: the project of the session
    "CLAUDE_CODE_ENTRYPOINT",  // whether a person sits before Claude Code; a yes still needs that person
    "CLOCHE_SANDBOX",          // counts only where the managed or the user's file permits it
    "CLOCHE_REQUIRE_SANDBOX",  // only tightens
};

bool is_taken(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return name.size() < variable.size() && contains(agents_names, name);
}

const PlaceFlag* row_of(std::string_view flag) { return find_by(place_flags, &PlaceFlag::flag, flag); }

}  // namespace

bool is_flag_of_place(std::string_view flag) { return row_of(flag) != nullptr; }

bool is_agents_start(std::span<char* const> words) {
  const std::string_view command = words.size() < 2 ? "" : words[1];
  if (command == "hook" || command == judge_word) return is_hook_judgement(words.subspan(2));
  // A server whose line names the operator's directories does not take them from its client.
  if (command == "mcp")
    return std::any_of(words.begin() + 2, words.end(), [](std::string_view word) {
      return is_flag_of_place(word.substr(0, word.find('=')));
    });
  if (command != "run") return false;
  // The flags of --call are the only ones that may stand before it.
  for (size_t at = 2; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word == "--call" || word.starts_with("--call=")) return true;
    if (!is_flag_of_place(word.substr(0, word.find('=')))) return false;
    if (word.find('=') == std::string_view::npos) ++at;
  }
  return false;
}

AgentEnvironment::AgentEnvironment(char* const* agents, std::span<char* const> words) {
  for (; *agents != nullptr; ++agents)
    if (is_taken(*agents)) texts_.emplace_back(*agents);
  for (size_t at = 2; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const size_t equals = word.find('=');
    const PlaceFlag* row = row_of(word.substr(0, equals));
    if (row == nullptr) continue;
    const bool glued = equals != std::string_view::npos;
    if (!glued && ++at == words.size()) break;  // read_options() reports it
    texts_.push_back(std::string(row->variable) + "=" +
                     (glued ? std::string(word.substr(equals + 1)) : std::string(words[at])));
  }
  for (auto& text : texts_) block_.push_back(text.data());
  block_.push_back(nullptr);
}

std::vector<std::string> flags_of_places(const Environment& environment) {
  std::vector<std::string> flags;
  const std::string home = environment.get("HOME");
  for (const auto& row : place_flags) {
    const std::string value = environment.get(row.variable);
    const std::string usual = row.variable == "HOME" ? environment.account_home()
                              : row.usual.empty()    ? std::string()
                                                     : home + std::string(row.usual);
    if (!value.empty() && value != usual) flags.insert(flags.end(), {std::string(row.flag), value});
  }
  return flags;
}

}  // namespace cloche
