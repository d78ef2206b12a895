#include "doors/mcp/catalog.hpp"

#include <algorithm>
#include <charconv>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "doors/cli/print.hpp"
#include "tools/formats.hpp"
#include "tools/skill.hpp"

namespace cloche::mcp {
namespace {

constexpr std::string_view cursor_word = "after-";

std::optional<size_t> place_of(const std::string& cursor, size_t count) {
  if (cursor.empty()) return 0;
  if (!cursor.starts_with(cursor_word)) return std::nullopt;
  const std::string_view number = std::string_view(cursor).substr(cursor_word.size());
  size_t place = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), place);
  const bool whole = read.ec == std::errc() && read.ptr == number.data() + number.size();
  return whole && place > 0 && place < count ? std::optional(place) : std::nullopt;
}

std::string resource_json(const std::string& uri) {
  JsonWriter out;
  out.begin_object()
      .member("uri", uri)
      .member("name", "transcript")
      .member("title", "Transcript of this task");
  out.member("description", "One JSON line for each call: what was asked, and what came of it");
  return out.member("mimeType", "application/jsonl").end_object().take();
}

}  // namespace

Result<OfferedPrompt> prompt_of(const std::string& path) {
  const std::string text = TRY(sys::read_file(path, max_skill_bytes));
  const Skill skill = TRY(read_skill(text, path, Trust::project));
  const std::string_view body = TRY(skill_body(text, path));
  return OfferedPrompt{skill.name, skill.description, std::string(body)};
}

Result<Catalog> make_catalog(const Gateway& gateway, const Skill* skill, const std::string& task,
                             std::vector<OfferedPrompt> prompts) {
  Catalog catalog;
  for (const auto& tool : TRY(gateway.tools(skill))) {
    catalog.tools.push_back(to_mcp_json(tool));
    if (is_structured(tool)) catalog.structured_tools.push_back(tool.name);
  }
  if (const Run* run = gateway.record()) {
    catalog.transcript_uri = "cloche://" + run->place().run_id() + "/" + task + ".jsonl";
    catalog.resources.push_back(resource_json(catalog.transcript_uri));
  }
  catalog.prompts = std::move(prompts);
  return catalog;
}

Response page_of(std::string_view name, const std::vector<std::string>& items, const std::string& cursor,
                 size_t page_size) {
  const auto from = place_of(cursor, items.size());
  if (!from) return bad_params("there is no cursor " + on_one_line(cursor.substr(0, 60)) + " in this list");
  const size_t to = std::min(items.size(), *from + page_size);
  Page page{.name = name};
  page.items.assign(items.begin() + static_cast<ptrdiff_t>(*from),
                    items.begin() + static_cast<ptrdiff_t>(to));
  if (to < items.size()) page.next = std::string(cursor_word) + std::to_string(to);
  return page;
}

std::vector<std::string> items_of(const Catalog& catalog, std::string_view list) {
  if (list == "tools") return catalog.tools;
  if (list == "resources") return catalog.resources;
  std::vector<std::string> items;
  if (list != "prompts") return items;
  for (const auto& prompt : catalog.prompts) {
    JsonWriter out;
    out.begin_object().member("name", prompt.name).member("description", prompt.description).end_object();
    items.push_back(out.take());
  }
  return items;
}

Response get_prompt(const Catalog& catalog, const std::string& name) {
  for (const auto& prompt : catalog.prompts) {
    if (prompt.name == name) return PromptText{prompt.description, prompt.text};
  }
  return bad_params("there is no prompt " + on_one_line(name.substr(0, 100)));
}

}  // namespace cloche::mcp
