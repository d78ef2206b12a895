// What the file tools do with a workspace in memory, and what the model gets of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "policy/schema/json_schema.hpp"
#include "tools/answer/image_type.hpp"
#include "tools/files/artifacts.hpp"

namespace cloche {
namespace {

using Kind = FileAction::Kind;

JsonValue json(const std::string& text) {
  auto value = read_json(text, "test", call_limits);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? std::move(value).value() : JsonValue{};
}

// A workspace in memory.
class FakeFiles : public WorkspaceFiles {
 public:
  std::map<std::string, std::string> files = {};
  WalkEnd end = WalkEnd::complete;
  size_t unreadable = 0;
  bool out_of_time = false;
  bool changes_meanwhile = false;

  Result<FilePart> read(const std::string& path, uint64_t offset, uint64_t most) override {
    const auto found = files.find(path);
    if (found == files.end()) return Error{Cause::system, "'" + path + "' is not there", ENOENT, {}};
    const std::string& all = found->second;
    return FilePart{offset < all.size() ? all.substr(offset, most) : "", all.size(), stamp(all)};
  }

  Result<Replaced> replace(const std::string& path, std::string_view bytes,
                           const std::optional<FileStamp>& only_if) override {
    const bool known = files.count(path) > 0;
    if (changes_meanwhile) files[path] += "!";
    if (only_if && !(*only_if == stamp(files[path])))
      return Error{Cause::system, "changed meanwhile", EBUSY, {}};
    files[path] = bytes;
    return known ? Replaced::changed : Replaced::made;
  }

  Result<Walked> walk(const std::string& path, const WalkLimits&, const Visit& visit) override {
    for (const auto& [name, content] : files) {
      if (!path.empty() && name != path && !name.starts_with(path + "/")) continue;
      const bool directory = name.ends_with("/");
      const FileEntry entry = {directory ? name.substr(0, name.size() - 1) : name,
                               directory ? FileEntry::Kind::directory : FileEntry::Kind::file};
      if (visit(entry, View(*this)) == WalkStep::stop)
        return Walked{out_of_time ? WalkEnd::out_of_time : WalkEnd::stopped_by_visitor, 0};
    }
    return Walked{end, unreadable};
  }

 private:
  class View : public WalkView {
   public:
    explicit View(const FakeFiles& files) : files_(files) {}
    uint64_t size_of(const FileEntry& entry) const override { return files_.files.at(entry.path).size(); }
    bool out_of_time() const override { return files_.out_of_time; }

   private:
    const FakeFiles& files_;
  };

  static FileStamp stamp(const std::string& content) { return {1, 1, content.size(), 0}; }
};

// Every reply that is structured is what its schema says.
ToolReply checked(const std::string& tool, ToolReply reply) {
  for (const auto& spec : artifact_tools()) {
    if (spec.name != tool || reply.failed || reply.image.is_there()) continue;
    const auto schema = JsonSchema::compile(json(spec.output_schema), tool);
    EXPECT_TRUE(schema.ok());
    const auto fault = schema.value().check(json(reply.structured));
    EXPECT_FALSE(fault) << (fault ? fault->describe() : "") << reply.structured;
  }
  return reply;
}

ToolReply call(FakeFiles& files, const std::string& tool, const std::string& arguments) {
  const FileCall understood = parse_file_call(tool, json(arguments), "/home/u/ws");
  EXPECT_EQ(understood.problem, "") << arguments;
  return checked(tool, perform(understood.action, files));
}

TEST(ReadArtifact, AnImageIsShownAsOneWhateverItsName) {
  const std::string png = std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) + "pixels";
  FakeFiles files;
  files.files = {{"a.png", png}, {"b.txt", png}, {"c.png", "only text"}};
  for (const char* path : {"a.png", "b.txt"}) {
    const ToolReply shown = call(files, "read_artifact", R"({"path": ")" + std::string(path) + "\"}");
    EXPECT_FALSE(shown.failed);
    EXPECT_EQ(shown.text, "[" + std::string(path) + " is an image (image/png, 22 bytes)]");
    EXPECT_EQ(shown.image.type, "image/png");
    EXPECT_EQ(shown.image.bytes, png);
  }
  EXPECT_EQ(call(files, "read_artifact", R"({"path": "c.png"})").text, "only text");
  EXPECT_FALSE(call(files, "read_artifact", R"({"path": "a.png", "offset": 1})").image.is_there())
      << "its bytes are still to be had";

  files.files["large.png"] = png + std::string(most_image_bytes, 'x');
  const ToolReply large = call(files, "read_artifact", R"({"path": "large.png"})");
  EXPECT_TRUE(large.failed);
  EXPECT_FALSE(large.image.is_there());
  EXPECT_NE(large.text.find("large.png is an image (image/png, 5242902 bytes), and only images of at most"),
            std::string::npos)
      << large.text;
}

TEST(WriteArtifact, SaysWhatItWrote) {
  FakeFiles files;
  ToolReply reply = call(files, "write_artifact", R"({"path": "out/report.md", "content": "caf\u00e9"})");
  EXPECT_EQ(reply.text, "wrote out/report.md (5 bytes)");
  EXPECT_EQ(reply.structured, R"({"path":"out/report.md","bytes":5,"created":true})");
  EXPECT_EQ(files.files["out/report.md"], "caf\u00e9");
  reply = call(files, "write_artifact", R"({"path": "out/report.md", "content": ""})");
  EXPECT_EQ(reply.structured, R"({"path":"out/report.md","bytes":0,"created":false})");
}

TEST(EditArtifact, ReplacesWhatIsThereOnce) {
  FakeFiles files;
  files.files["a.py"] = "one\ntwo\nthree\n";
  EXPECT_EQ(call(files, "edit_artifact", R"({"path": "a.py", "old": "two", "new": "2"})").text,
            "edited a.py at line 2 (12 bytes)");
  EXPECT_EQ(files.files["a.py"], "one\n2\nthree\n");
}

TEST(EditArtifact, ChangesNothingOtherwise) {
  struct Row {
    std::string content;
    const char* old;
    const char* says;
  };
  const Row rows[] = {
      {"abc", "x", "old is not in f: read it"},    {"abab", "ab", "old is in f 2 times"},
      {"aaa", "aa", "old is in f 2 times"},        {std::string(1000, 'a'), "a", "at least 10 times"},
      {"a\r\nb\r\n", R"(a\nb)", R"(end in \r\n)"}, {"", "x", "old is not in f"},
  };
  for (const auto& row : rows) {
    FakeFiles files;
    files.files["f"] = row.content;
    const ToolReply reply =
        call(files, "edit_artifact", std::string(R"({"path": "f", "new": "n", "old": ")") + row.old + "\"}");
    EXPECT_TRUE(reply.failed) << row.old;
    EXPECT_NE(reply.text.find(row.says), std::string::npos) << reply.text;
    EXPECT_EQ(files.files["f"], row.content);
  }
}

TEST(EditArtifact, FailsOnWhatIsNotThereTooLongOrChangedMeanwhile) {
  FakeFiles files;
  const std::string edit = R"({"path": "f", "old": "x", "new": "y"})";
  EXPECT_TRUE(call(files, "edit_artifact", edit).failed);
  files.files["f"] = "x" + std::string(most_artifact_bytes, ' ');
  EXPECT_TRUE(call(files, "edit_artifact", edit).failed);
  files.files["f"] = "x";
  files.changes_meanwhile = true;
  EXPECT_NE(call(files, "edit_artifact", edit).text.find("changed meanwhile"), std::string::npos);
  EXPECT_EQ(files.files["f"], "x!");
}

// Texts that make a naive search quadratic.
TEST(EditArtifact, IsFastWhateverTheTexts) {
  FakeFiles files;
  files.files["f"] = std::string(4 << 20, 'a');
  FileAction action;
  action.kind = Kind::edit;
  action.path = "f";
  action.replaced = std::string(400'000, 'a') + "b" + std::string(400'000, 'a');
  EXPECT_TRUE(perform(action, files).failed);
  action.replaced = std::string(800'000, 'a');
  EXPECT_NE(perform(action, files).text.find("at least 10 "), std::string::npos);
}

TEST(ReadArtifact, ShowsPartsAndHowToGoOn) {
  FakeFiles files;
  files.files["f"] = "0123456789";
  files.files["empty"] = "";
  files.files["wide"] = "ab\u4e2dcd";
  files.files["broken"] = "a\xff\xc3";
  struct Row {
    const char* arguments;
    const char* text;
  };
  const Row rows[] = {
      {R"({"path": "f"})", "0123456789"},
      {R"({"path": "f", "limit": 4})", "0123\n[bytes 0 to 4 of 10; for more use offset 4]"},
      {R"({"path": "f", "offset": 4, "limit": 4})", "4567\n[bytes 4 to 8 of 10; for more use offset 8]"},
      {R"({"path": "f", "offset": 8})", "89\n[bytes 8 to 10, the end]"},
      {R"({"path": "f", "offset": 99})", "[there is nothing at offset 99: it has 10 bytes]"},
      {R"({"path": "empty"})", "[it is empty]"},
      {R"({"path": "wide", "limit": 4})", "ab\n[bytes 0 to 2 of 7; for more use offset 2]"},
      {R"({"path": "wide", "offset": 2, "limit": 3})", "\u4e2d\n[bytes 2 to 5 of 7; for more use offset 5]"},
      {R"({"path": "wide", "offset": 2, "limit": 1})", "\ufffd\n[bytes 2 to 3 of 7; for more use offset 3]"},
      {R"({"path": "broken"})", "a\ufffd\ufffd"},
  };
  for (const auto& row : rows) EXPECT_EQ(call(files, "read_artifact", row.arguments).text, row.text);
  EXPECT_EQ(call(files, "read_artifact", R"({"path": "f", "offset": 2, "limit": 3})").structured,
            R"({"path":"f","content":"234","offset":2,"bytes":3,"size":10,"more":true,"next_offset":5})");
  EXPECT_TRUE(call(files, "read_artifact", R"({"path": "absent"})").failed);
}

TEST(ListArtifacts, ShowsNamesKindsAndSizes) {
  FakeFiles files;
  files.files = {{"a.py", "12"},   {"src/", ""}, {"src/b.py", "1"},
                 {"src/c.md", ""}, {".git", ""}, {"n\x1bl", ""}};
  EXPECT_EQ(call(files, "list_artifacts", "{}").text,
            "a.py (2 bytes)\nn\\u{1b}l (0 bytes)\nsrc/\nsrc/b.py (1 byte)\nsrc/c.md (0 bytes)");
  EXPECT_EQ(call(files, "list_artifacts", R"({"glob": "*.py"})").text, "a.py (2 bytes)\nsrc/b.py (1 byte)");
  EXPECT_EQ(call(files, "list_artifacts", R"({"path": "src", "glob": "./*.md"})").text, "src/c.md (0 bytes)");
  EXPECT_EQ(call(files, "list_artifacts", R"({"glob": "*.rs"})").text, "[nothing there]");
  EXPECT_EQ(call(files, "list_artifacts", R"({"glob": "a.*"})").structured,
            R"({"entries":[{"path":"a.py","kind":"file","size":2}],"more":0,"complete":true})");
}

TEST(ListArtifacts, IsBoundedAndSaysSo) {
  FakeFiles files;
  for (int i = 0; i < 1007; ++i) files.files["f" + std::to_string(10000 + i)] = "";
  files.end = WalkEnd::out_of_time;
  files.unreadable = 2;
  const std::string text = call(files, "list_artifacts", "{}").text;
  for (const char* part : {"[and 7 more;", "took too long", "2 directories could not be read"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1002);
}

TEST(ListArtifacts, OfLongNamesIsBoundedToo) {
  FakeFiles files;
  for (int i = 0; i < 600; ++i) files.files[std::string(250, 'd') + "/" + std::to_string(1000 + i)] = "";
  const std::string text = call(files, "list_artifacts", "{}").text;
  EXPECT_LT(text.size(), most_shown_text + 500);
  EXPECT_NE(text.find(" more; use a glob"), std::string::npos);
}

TEST(SearchArtifacts, ShowsLines) {
  FakeFiles files;
  files.files = {
      {"a.py", "import os\nx = 1\r\n"}, {"b/c.md", "no\nan import"}, {"bin", std::string("import\0", 7)}};
  EXPECT_EQ(call(files, "search_artifacts", R"({"pattern": "import|x = 1$"})").text,
            "a.py:1: import os\na.py:2: x = 1\nb/c.md:2: an import");
  EXPECT_EQ(call(files, "search_artifacts", R"({"pattern": "import", "path": "b"})").structured,
            R"({"matches":[{"path":"b/c.md","line":2,"text":"an import"}],"complete":true})");
  EXPECT_EQ(call(files, "search_artifacts", R"({"pattern": "IMPORT"})").text, "[no match]");
  EXPECT_EQ(call(files, "search_artifacts", R"({"pattern": "(?i)OS$", "path": "a.py"})").text,
            "a.py:1: import os");
}

TEST(SearchArtifacts, IsBoundedAndSaysSo) {
  FakeFiles files;
  files.files["large"] = std::string(most_searched_bytes + 1, 'x');
  files.files["long"] = std::string(most_searched_line, 'y') + "needle\n" + std::string(500, 'z');
  std::string text = call(files, "search_artifacts", R"({"pattern": "needle|z"})").text;
  EXPECT_NE(text.find("long:2: " + std::string(most_shown_line, 'z') + "...\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 files longer than"), std::string::npos);
  EXPECT_NE(text.find("of 1 long lines"), std::string::npos);
  for (int i = 0; i < 500; ++i) files.files["many"] += "z\n";
  text = call(files, "search_artifacts", R"({"pattern": "z", "path": "many"})").text;
  EXPECT_NE(text.find("[stopped after 200 matches"), std::string::npos);
  files.out_of_time = true;
  files.files["many"] = std::string(20'000, '\n');
  text = call(files, "search_artifacts", R"({"pattern": "z", "path": "many"})").text;
  EXPECT_NE(text.find("took too long"), std::string::npos) << text;
}

}  // namespace
}  // namespace cloche
