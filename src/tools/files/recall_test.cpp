#include "tools/files/recall.hpp"

#include <gtest/gtest.h>

#include "policy/schema/json_schema.hpp"

namespace cloche {
namespace {

RecallCall parse(const std::string& arguments) {
  const auto value = read_json(arguments, "test", call_limits);
  EXPECT_TRUE(value.ok()) << arguments;
  return parse_recall(value.value());
}

TEST(CallIds, AreBare) {
  for (const std::string id : {"c-0007", "a", "A.b_c-9", "0"}) EXPECT_EQ(problem_of_call_id(id), "") << id;
  EXPECT_EQ(problem_of_call_id(std::string(64, 'a')), "");
  const std::string bad[] = {
      "",     ".",    "..",  ".hidden", "a/b",       "/etc/passwd",          "../c-0001",
      "a..b", "a\\b", "a b", "a\n",     "c-1\u202e", std::string("a\0b", 3), std::string(65, 'a')};
  for (const auto& id : bad) EXPECT_NE(problem_of_call_id(id), "") << id;
}

TEST(ReadToolResult, TheArguments) {
  const RecallCall call = parse(R"({"call_id": "c-0007", "offset": 10, "limit": 20})");
  EXPECT_EQ(call.problem, "");
  EXPECT_EQ(call.recall.call_id, "c-0007");
  EXPECT_EQ(call.recall.offset, 10U);
  EXPECT_EQ(call.recall.limit, 20U);
  const std::pair<const char*, const char*> rows[] = {
      {"[]", "not an object"},
      {"{}", "call_id is missing"},
      {R"({"call_id": 7})", "call_id is not a text"},
      {R"({"call_id": "../x"})", "begins with a dot"},
      {R"({"call_id": "a/b"})", "not a bare id"},
      {R"({"call_id": "a", "task": "T"})", "unknown argument"},
      {R"({"call_id": "a", "offset": -1})", "offset is not"},
      {R"({"call_id": "a", "limit": 0})", "limit is not"},
      {R"({"call_id": "a", "limit": 1048577})", "limit is not"},
  };
  for (const auto& [arguments, problem] : rows)
    EXPECT_NE(parse(arguments).problem.find(problem), std::string::npos)
        << arguments << parse(arguments).problem;
}

class FakeResults : public Results {
 public:
  Result<FilePart> recall(const std::string& call_id, uint64_t offset, uint64_t most) override {
    const std::string all = "0123456789";
    if (call_id != "c-0007") return Error{Cause::system, "there is no result " + call_id, ENOENT, {}};
    return FilePart{all.substr(std::min<size_t>(offset, all.size()), most), all.size()};
  }
};

TEST(ReadToolResult, ShowsPartsAndHowToGoOn) {
  FakeResults results;
  const ToolReply reply = perform(parse(R"({"call_id": "c-0007", "limit": 4})").recall, results);
  EXPECT_EQ(reply.text, "0123\n[bytes 0 to 4 of 10; for more use offset 4]");
  const auto schema = JsonSchema::compile(read_json(recall_tool().output_schema, "").value(), "");
  EXPECT_FALSE(schema.value().check(read_json(reply.structured, "").value()));
  EXPECT_EQ(perform(parse(R"({"call_id": "c-0007", "offset": 8})").recall, results).text,
            "89\n[bytes 8 to 10, the end]");
  EXPECT_TRUE(perform(parse(R"({"call_id": "c-0008"})").recall, results).failed);
}

}  // namespace
}  // namespace cloche
