#include "tools/fixture.hpp"

#include <fstream>
#include <sstream>

namespace cloche::test {
namespace {

void add(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Answer answer_of(const std::string& text, Ran ran) {
  Answer answer;
  auto json = parse_json(text);
  if (json && json->is(Json::Kind::object)) {
    answer.json = std::move(*json);
  } else {
    ADD_FAILURE() << "not one JSON object: " << text.substr(0, 2000) << "\nstderr: " << ran.err;
  }
  answer.ran = std::move(ran);
  return answer;
}

::testing::AssertionResult failure(const Answer& answer) {
  auto result = ::testing::AssertionFailure();
  for (const char* key : {"outcome", "limit", "decision", "reason", "result"})
    result << key << ": " << answer.text(key).substr(0, 1000) << "\n";
  for (const auto& note : answer.json["notes"].array) result << "note: " << note.string << "\n";
  return result << "stderr: " << answer.ran.err.substr(0, 1000) << "\n";
}

}  // namespace

Tools::Tools() {
  scene().write("home/.ssh/id_ed25519", "the key of the caller\n", 0600);
  scene().write("executors/.keep", "");
}

Command Tools::words(Words words, Command how) const {
  how.argv = {cloche()};
  add(how.argv, words);
  how.as = as();
  if (how.cwd.empty()) how.cwd = workspace();
  how.env.emplace("XDG_STATE_HOME", state_home(as()));
  how.env.emplace("HOME", home());
  return how;
}

Ran Tools::cloche_words(const Words& given, const Command& how) const { return run(words(given, how)); }

Answer Tools::call(const Call& call, const Words& flags, const Command& how) const {
  Words given = {"call", call.tool, call.arguments, "--json"};
  add(given, flags);
  Ran ran = cloche_words(given, how);
  const std::string text = ran.out;
  return answer_of(text, std::move(ran));
}

Command Tools::session_command(const std::vector<Call>& calls, const Words& flags) {
  std::string lines;
  for (const auto& call : calls) lines += call.tool + " " + call.arguments + "\n";
  Command command = words({});
  command.argv = {built("tools_session"), scene().write("calls", lines)};
  add(command.argv, flags);
  return command;
}

std::vector<Answer> Tools::session(const std::vector<Call>& calls, const Words& flags) {
  const Ran ran = run(session_command(calls, flags));
  std::vector<Answer> answers;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) answers.push_back(answer_of(line, ran));
  EXPECT_EQ(answers.size(), calls.size()) << ran.err;
  answers.resize(calls.size());
  return answers;
}

void Tools::executor(const std::string& name, const std::string& python, const Manifest& manifest) {
  const fs::path folder = fs::path("executors") / name;
  scene().write(folder / "tool.py", python);
  scene().write(
      folder / "manifest.json",
      R"({"name": ")" + name + R"(", "description": "of a test", "input_schema": {"type": "object"},)" +
          R"("output_schema": )" + manifest.output_schema + R"(, "code": "tool.py", "capabilities": )" +
          manifest.capabilities + R"(, "limits": )" + manifest.limits + "}");
}

std::string Tools::skill(const std::string& frontmatter) {
  return scene().write("skills/SKILL.md", "---\nname: test\n" + frontmatter + "\n---\nDo it.\n");
}

std::string Tools::project_skill(const std::string& frontmatter) {
  return file("SKILL.md", "---\nname: test\n" + frontmatter + "\n---\nDo it.\n");
}

::testing::AssertionResult Tools::verified(const std::string& run) const {
  const Ran ran = cloche_words({"log", "verify", run});
  if (ran.exit_code == 0 && contains("\n" + ran.out, "\nok: ")) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "log verify: " << ran.out << ran.err;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string script(const std::string& code, const std::string& interpreter) {
  return R"({"code": )" + quoted(code) + R"(, "interpreter": )" + quoted(interpreter) + "}";
}

std::string code(const std::string& python) { return R"({"code": )" + quoted(python) + "}"; }

::testing::AssertionResult ended(const Answer& answer, const std::string& outcome) {
  if (answer.text("outcome") == outcome) return ::testing::AssertionSuccess();
  return failure(answer) << "expected the outcome " << outcome;
}

::testing::AssertionResult ended_by_limit(const Answer& answer, const std::string& limit) {
  if (answer.text("outcome") == "limit" && answer.text("limit") == limit && answer.exit_code() == 137)
    return ::testing::AssertionSuccess();
  return failure(answer) << "expected the limit " << limit;
}

::testing::AssertionResult refused_by(const Answer& answer, const std::string& gate,
                                      const std::string& words) {
  const bool refused = answer.text("outcome") == "refused" && answer.exit_code() == 126;
  if (refused && answer.result().starts_with("refused by " + gate + ": ") && contains(answer.result(), words))
    return ::testing::AssertionSuccess();
  return failure(answer) << "expected a refusal by " << gate << " that says " << words;
}

std::vector<Json> json_lines(const fs::path& file) {
  std::vector<Json> lines;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) {
    auto json = parse_json(line);
    if (!json) ADD_FAILURE() << file << ": no JSON: " << line.substr(0, 500);
    lines.push_back(json.value_or(Json{}));
  }
  return lines;
}

}  // namespace cloche::test
