// What this server offers, made once: the tools of the loadout, the transcript as a resource, the skills as
// prompts. Reading from it has no effect.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "doors/mcp/requests.hpp"
#include "gateway/gateway.hpp"

namespace cloche::mcp {

inline constexpr size_t items_a_page = 50;
inline constexpr size_t most_transcript_bytes = size_t{1} << 20;

struct OfferedPrompt {
  std::string name = {};
  std::string description = {};
  std::string text = {};
};

struct Catalog {
  std::vector<std::string> tools = {};             // JSON
  std::vector<std::string> structured_tools = {};  // names of those whose results are JSON as well
  std::vector<std::string> resources = {};         // JSON
  std::vector<OfferedPrompt> prompts = {};
  std::string transcript_uri = {};  // empty: there is no record
};

// The prompt that a skill's text makes.
Result<OfferedPrompt> prompt_of(const std::string& path);

// Only the transcript of `task` is offered.
Result<Catalog> make_catalog(const Gateway& gateway, const Skill* skill, const std::string& task,
                             std::vector<OfferedPrompt> prompts);

// From where a cursor says, which is one that such a page gave.
Response page_of(std::string_view name, const std::vector<std::string>& items, const std::string& cursor,
                 size_t page_size = items_a_page);

// What a list of MCP has in it, as JSON; of one that is not kept here nothing.
std::vector<std::string> items_of(const Catalog& catalog, std::string_view list);
Response get_prompt(const Catalog& catalog, const std::string& name);

}  // namespace cloche::mcp
