// Writes what share/ holds as C++, at build time: `shipped_tables SHARE OUTPUT FILE...`. The protected
// set, the environment without a network and the rights of the profiles become tables; FILEs (of
// share/, by their names there) become texts, which the programs read when they need one. Same input, same
// output.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/sys/path.hpp"
#include "policy/protected/folded_name.hpp"

namespace {

using namespace cloche;

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return refusal(path + " cannot be read");
  return text.str();
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << "// Made from share/ by tools/shipped_tables.cpp at build time.\n" << text).flush())
    return refusal(path + " cannot be written");
  return {};
}

std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

struct Row {
  std::string path;  // folded
  std::string reason;
  int line = 0;
};

std::string folded_path(std::string_view path) {
  std::string folded;
  for (const auto& name : components_of(path)) folded += (folded.empty() ? "" : "/") + folded_name(name);
  return folded;
}

std::string first_of(const std::string& path) { return path.substr(0, path.find('/')); }
bool is_glob(const Row& row) { return row.path.find_first_of("*?") != std::string::npos; }
bool is_of_git(const Row& row) { return first_of(row.path) == ".git"; }

Result<std::vector<Row>> read_rows(const std::string& text, const std::string& source) {
  const JsonValue root = TRY(read_json(text, source));
  TRY(refuse_unknown_keys(root, {"protected"}, source));
  const JsonValue* list = root.find("protected");
  if (list == nullptr || !list->is_array() || list->items.empty())
    return json_error(source, root.line, "protected is not a list of entries");
  std::vector<Row> rows;
  for (const auto& item : list->items) {
    TRY(refuse_unknown_keys(item, {"path", "reason", "match", "not_match"}, source));
    Row row;
    row.path = folded_path(TRY(required_text(item, "path", source)));
    row.reason = TRY(required_text(item, "reason", source));
    row.line = item.line;
    // Names are looked for one by one; only within .git, which has few rows, are whole paths matched.
    const bool one_name = row.path.find('/') == std::string::npos;
    const bool one_star = std::count(row.path.begin(), row.path.end(), '*') <= 1;
    if (is_glob(row) && !is_of_git(row) && (!one_name || !one_star))
      return json_error(source, item.line, "path has a * or ? in more than one name, or two * in one");
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string table_of(std::string_view name, const std::vector<Row>& rows) {
  std::string text = "constexpr ProtectedName " + std::string(name) + "[] = {\n";
  for (const auto& row : rows)
    text +=
        "    {" + literal(row.path) + ", " + literal(row.reason) + ", " + std::to_string(row.line) + "},\n";
  return text + "};\n";
}

Result<std::string> protected_tables(const std::string& text) {
  std::vector<Row> names;
  std::vector<Row> globs;
  std::vector<Row> git;  // in the order of the file: the first that matches gives the reason
  for (auto& row : TRY(read_rows(text, "share/protected.json")))
    (is_of_git(row) ? git : (is_glob(row) ? globs : names)).push_back(std::move(row));
  std::sort(names.begin(), names.end(), [](const Row& a, const Row& b) {
    return std::pair(first_of(a.path), a.path) < std::pair(first_of(b.path), b.path);
  });
  return table_of("rows", names) + table_of("globs", globs) + table_of("git_rows", git);
}

// The reasons are for who reads share/.
Result<std::string> environment_table(const std::string& text) {
  const std::string source = "share/without_network.json";
  const JsonValue root = TRY(read_json(text, source));
  TRY(refuse_unknown_keys(root, {"environment"}, source));
  const JsonValue* list = root.find("environment");
  if (list == nullptr || !list->is_array() || list->items.empty())
    return json_error(source, root.line, "environment is not a list of entries");
  std::string table = "constexpr EnvironmentRow rows[] = {\n";
  for (const auto& item : list->items) {
    TRY(refuse_unknown_keys(item, {"name", "value", "reason"}, source));
    TRY(required_text(item, "reason", source));
    const std::string name = TRY(required_text(item, "name", source));
    const std::string value = TRY(required_text(item, "value", source));
    table += "    {" + literal(name) + ", " + literal(value) + "},\n";
  }
  return table + "};\n";
}

// The enumerator of a profile is its name with _ for -.
Result<std::string> profile_row(const std::string& name, const std::string& text, const std::string& source) {
  const JsonValue root = TRY(read_json(text, source));
  const std::string workspace = TRY(required_text(root, "workspace", source));
  const std::string network = TRY(required_text(root, "network", source));
  const std::string description = TRY(required_text(root, "description", source));
  std::string enumerator = name;
  std::replace(enumerator.begin(), enumerator.end(), '-', '_');
  return "    {Profile::" + enumerator + ", " + literal(name) + ", " +
         (workspace == "write" ? "true" : "false") + ", " + (network == "declared" ? "true" : "false") +
         ",\n     " + literal(description) + "},\n";
}

Result<void> write_all(const std::string& share, const std::string& output, std::span<char* const> files) {
  constexpr std::string_view profiles = "profiles/";
  constexpr std::string_view ending = ".json";
  std::string rights = "const ShippedProfile shipped_profiles[3] = {\n";
  std::string texts = "constexpr ShippedFile files[] = {\n";
  for (const std::string file : files) {
    const std::string source = "share/" + file;
    const std::string text = TRY(read_text(share + "/" + file));
    if (file == "protected.json") {
      const std::string tables = TRY(protected_tables(text));
      TRY(write_text(output + "/policy/protected_names.inc", tables));
      continue;
    }
    if (file == "without_network.json") {
      const std::string table = TRY(environment_table(text));
      TRY(write_text(output + "/policy/without_network.inc", table));
      continue;
    }
    if (file.starts_with(profiles)) {
      const size_t length = file.size() - profiles.size() - ending.size();
      rights += TRY(profile_row(file.substr(profiles.size(), length), text, source));
    }
    texts += "    {" + literal(source) + ", R\"cloche(" + text + ")cloche\"},\n";
  }
  TRY(write_text(output + "/model/shipped_profiles.inc", rights + "};\n"));
  return write_text(output + "/policy/shipped_files.inc", texts + "};\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: shipped_tables SHARE OUTPUT FILE...\n", stderr);
    return 2;
  }
  const auto written = write_all(argv[1], argv[2], std::span(argv + 3, argv + argc));
  if (written.ok()) return 0;
  std::fputs((describe(written.error()) + "\n").c_str(), stderr);
  return 1;
}
