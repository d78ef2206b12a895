// Reading shape files: what is wrong is refused with its line, and examples are checked.
#include "policy/shapes/shapes.hpp"

#include <gtest/gtest.h>

#include "base/sys/sys.hpp"
#include "policy/shapes/shape_match.hpp"

namespace cloche {
namespace {

std::string with(const std::string& shape) { return "{\"profile\": \"full\",\n\"shapes\": [" + shape + "]}"; }

std::string minimal(const std::string& argv, const std::string& more = "") {
  return with(R"({"id": "t", "usage": "t", "argv": )" + argv + more +
              R"(, "accepts": ["t a"], "refuses": ["u"]})");
}

TEST(Shapes, WhatIsWrongIsRefusedWithItsLine) {
  const std::pair<std::string, std::string> rows[] = {
      {"[]", "object"},
      {"{}", "profile"},
      {R"({"profile": "any", "shapes": []})", "not passive or full"},
      {R"({"profile": "passiv", "shapes": []})", "not passive or full"},
      {R"({"profile": "full"})", "shapes is not a list"},
      {R"({"profile": "full", "shapes": [], "extra": 1})", "unknown key \"extra\""},
      {R"({"profile": "full", "profile": "passive", "shapes": []})", "profile"},
      {with("{}"), "id is not a text"},
      {with(R"({"id": "t", "usage": "t"})"), "argv is missing"},
      {minimal("[]"), "parts is expected"},
      {minimal("\"t\""), "parts is expected"},
      {minimal("[\"\"]"), "a part is"},
      {minimal(R"(["./t"])"), "not the name of a program"},
      {minimal(R"([["t", "/bin/t"]])"), "not the name of a program"},
      {minimal(R"([{"file": "*"}])"), "not the name of a program"},
      {minimal(R"(["t", {"file": "py"}])"), "begins with a dot"},
      {minimal(R"(["t", {"file": 1}])"), "ending"},
      {minimal(R"(["t", {"path": ".py"}])"), "any ending"},
      {minimal(R"(["t", {"file": "*", "count": "0"}])"), "count"},
      {minimal(R"(["t", {"file": "*", "count": "2-1"}])"), "count"},
      {minimal(R"(["t", {"file": "*", "count": "-1"}])"), "count"},
      {minimal(R"(["t", {"file": "*", "count": 1}])"), "count"},
      {minimal(R"(["t", {"file": "*", "count": "1+"}, "x"])"), "only the last part"},
      {minimal(R"(["t", {"maybe": [{"args": "any"}]}])"), "only the last part"},
      {minimal(R"(["t", {"args": "some"}])"), "args is"},
      {minimal(R"(["t", {"args": "any", "forbid": ["x"]}])"), "no option"},
      {minimal(R"(["t", {"args": "any", "forbid": ["--"]}])"), "no option"},
      {minimal(R"(["t", {"name": "word"}])"), "name is not"},
      {minimal(R"(["t", {"glob": "*"}])"), "unknown key"},
      {minimal(R"(["t", {"number": "", "text": ""}])"), "one thing"},
      {minimal(R"(["t", {"maybe":["a"]}, {"maybe":["a"]}, {"maybe":["a"]}, {"maybe":["a"]}])"), "maybes"},
      {minimal(R"(["t", {"file": "*"}])", R"(, "harden": {"argv": ["u", "{operands}"]})"),
       "keeps the program"},
      {minimal(R"(["t", {"file": "*"}])", R"(, "harden": {"argv": ["t"]})"), "{operands}"},
      {minimal(R"(["t"])", R"(, "harden": {"argv": ["t", "{operands}"]})"), "{operands}"},
      {minimal(R"(["t"])", R"(, "harden": {"directory": "x"})"), "plain absolute"},
      {minimal(R"(["t", {"args": "any"}])", R"(, "harden": {"directory": "/"})"), "cannot move"},
      {minimal(R"(["t"])", R"(, "harden": {"env": {"A=B": "x"}})"), "env"},
      {minimal(R"(["t"])", R"(, "harden": {"env": {"A": 1}})"), "env"},
      {minimal(R"(["t"])", R"(, "harden": {"umask": 1})"), "unknown key"},
      {minimal(R"(["t"])", R"(, "harden": {"file": "/run/cloche/x"})"), "an object"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche/x"}})"), "content is not a text"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"content": "x"}})"), "path is not a text"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/etc/x", "content": "x"}})"), "/run/cloche"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "run/cloche/x", "content": "x"}})"),
       "/run/cloche"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche", "content": "x"}})"),
       "/run/cloche"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche/../x", "content": "x"}})"),
       "/run/cloche"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche/a/x", "content": "x"}})"),
       "/run/cloche"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche/x", "content": "x", "mode": 1}})"),
       "unknown key"},
      {minimal(R"(["t"])", R"(, "harden": {"file": {"path": "/run/cloche/x", "content": ")" +
                               std::string((64 << 10) + 1, 'x') + "\"}}"),
       "longer than 65536 bytes"},
      {with(R"({"id": "t", "usage": "t", "argv": ["t"], "accepts": [], "refuses": ["u"]})"),
       "accepts is missing or empty"},
      {with(R"({"id": "t", "usage": "t", "argv": ["t"], "accepts": ["t"]})"), "refuses is missing or empty"},
      {with(R"({"id": "t", "usage": "t", "argv": ["t"], "accepts": [1], "refuses": ["u"]})"),
       "an example is"},
  };
  for (const auto& [text, what] : rows) {
    const auto shapes = read_shapes(text, "x.json");
    ASSERT_FALSE(shapes.ok()) << text;
    EXPECT_NE(shapes.error().what.text().find(what), std::string::npos)
        << what << " <> " << shapes.error().what;
    EXPECT_TRUE(shapes.error().what.text().starts_with("x.json:")) << shapes.error().what;
  }
}

TEST(Shapes, AFailingExampleRefusesTheFileWithItsLine) {
  const std::string text =
      "{\"profile\": \"passive\", \"shapes\": [\n"
      "{\"id\": \"t\", \"usage\": \"t x\", \"argv\": [\"t\", \"x\"],\n"
      "\"accepts\": [\"t x\",\n \"t y\"],\n"
      "\"refuses\": [\"t\",\n \"t x\", \"t 'x\", [\"t\", \"z\"]]}]}";
  const auto shapes = read_shapes(text, "x.json");
  ASSERT_TRUE(shapes.ok()) << shapes.error().what;
  EXPECT_EQ(shapes.value()[0].line, 2);
  const ExampleCount count = check_examples(shapes.value());
  EXPECT_EQ(count.checked, 6U);
  ASSERT_EQ(count.failures.size(), 2U);
  EXPECT_EQ(count.failures[0], "x.json:4: t: should be accepted and is refused: t y");
  EXPECT_EQ(count.failures[1], "x.json:6: t: should be refused and is accepted by t: t x");
  const auto loaded = load_shapes(text, "x.json");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().what.text(), count.failures[0]);
}

TEST(Shapes, AnAcceptedExampleIsACommandThatCanBeRead) {
  for (const std::string example : {"t 'x", "t | x", "", "A=1 t"}) {
    const auto shapes =
        read_shapes(with(R"({"id": "t", "usage": "t", "argv": ["t", {"args": "any"}], "accepts": [")" +
                         example + R"("], "refuses": ["u"]})"),
                    "x.json");
    ASSERT_TRUE(shapes.ok()) << shapes.error().what;
    EXPECT_EQ(check_examples(shapes.value()).failures.size(), 1U) << example;
  }
}

struct Counted {
  const char* count;
  std::vector<size_t> good;
  std::vector<size_t> bad;
};

TEST(Shapes, CountsAndChoices) {
  const Counted rows[] = {{"1", {1}, {0, 2}},     {"2", {2}, {1, 3}},   {"0+", {0, 1, 5}, {}},
                          {"2+", {2, 9}, {0, 1}}, {"0-1", {0, 1}, {2}}, {"2-3", {2, 3}, {1, 4}}};
  for (const auto& row : rows) {
    const auto shapes = read_shapes(
        minimal(R"(["t", {"file": ".x", "count": ")" + std::string(row.count) + R"("}])"), "x.json");
    ASSERT_TRUE(shapes.ok()) << shapes.error().what;
    const auto takes = [&](size_t n) {
      std::vector<std::string> argv = {"t"};
      argv.resize(n + 1, "a.x");
      return match_shape(shapes.value()[0], argv).has_value();
    };
    for (size_t n : row.good) EXPECT_TRUE(takes(n)) << row.count << " " << n;
    for (size_t n : row.bad) EXPECT_FALSE(takes(n)) << row.count << " " << n;
  }
  const auto maybe = read_shapes(
      minimal(R"(["t", {"maybe": ["-n", {"number": ""}]}, ["a", "b"], {"text": "BODY"}])"), "x.json");
  ASSERT_TRUE(maybe.ok());
  const Shape& shape = maybe.value()[0];
  EXPECT_TRUE(match_shape(shape, {"t", "a", ""}));
  EXPECT_TRUE(match_shape(shape, {"t", "-n", "12", "b", "-x"}));
  EXPECT_FALSE(match_shape(shape, {"t", "-n", "b", "x"}));
  EXPECT_FALSE(match_shape(shape, {"t", "-n", "12", "c", "x"}));
  EXPECT_FALSE(match_shape(shape, {"t", "a"}));
}

TEST(Shapes, TheShippedFilesHold) {
  for (const std::string name : {"passive.json", "full.json"}) {
    const auto text = sys::read_file(std::string(CLOCHE_SOURCE_DIR) + "/share/commands/" + name);
    ASSERT_TRUE(text.ok());
    const auto shapes = load_shapes(text.value(), name);
    EXPECT_TRUE(shapes.ok()) << shapes.error().what;
  }
}

}  // namespace
}  // namespace cloche
