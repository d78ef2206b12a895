// Every tool that a model can call here: the shipped ones and the user's executors, each with its schemas
// compiled. Made once for a session, then only read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "model/call.hpp"
#include "model/skill.hpp"
#include "model/tool.hpp"
#include "policy/schema/json_schema.hpp"
#include "tools/function.hpp"

namespace cloche {

struct RegisteredTool {
  // What its arguments mean, into an intent; of executors and file tools none.
  using Understand = void (*)(const JsonValue& arguments, Intent& intent);

  ToolSpec spec;
  JsonSchema input;
  JsonSchema output;
  Understand understand = nullptr;
  std::shared_ptr<const Executor> executor = {};  // none: it is one of ours
  std::shared_ptr<const Function> function = {};  // or the embedding program's
};

// A call's arguments, parsed once.
struct ReadArguments {
  JsonValue value = {};
  std::string problem = {};  // why there is no value
};
ReadArguments read_arguments(const ToolCall& call);

class Registry {
 public:
  enum class Record { none, kept };  // read_tool_result is there only when there is a record

  Registry() = default;  // knows no tool
  static Result<Registry> make(std::vector<Executor> executors, Record record,
                               std::vector<Function> functions = {});

  const std::vector<RegisteredTool>& tools() const { return tools_; }
  // By its one name or an alias of it; nullptr: there is no such tool.
  const RegisteredTool* find(std::string_view written) const;

  // What a call means. Never fails: what cannot be understood is the intent's problem, and every gate refuses
  // it.
  Intent understand(const ToolCall& call, const ReadArguments& arguments, std::string_view workspace) const;
  Verdict schema_verdict(const ReadArguments& arguments, const Intent& intent) const;
  std::vector<std::string> executor_names() const;

 private:
  std::vector<RegisteredTool> tools_;
};

}  // namespace cloche
