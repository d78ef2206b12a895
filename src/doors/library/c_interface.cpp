// The C interface: JSON in, the C++ interface beneath, JSON out. Nothing that is thrown leaves a function.
#include <cloche/cloche_c.h>
#include <cloche/gateway.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "doors/library/read_values.hpp"
#include "doors/library/session_of.hpp"
#include "tools/formats.hpp"

// NOLINTBEGIN(cppcoreguidelines-no-malloc): what is returned outlives us, and C frees it
struct cloche_gateway {
  cloche::v1::Gateway gateway;
};

namespace {

using cloche::error_json;
using cloche::usage_error;
namespace v1 = cloche::v1;

char* copied(const std::string& text) noexcept {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// What `work` returns, or as JSON why it did not. Null: there is no memory.
template <typename Work>
char* answered(const Work& work) noexcept {
  try {
    const cloche::Result<std::string> answer = work();
    return copied(answer.ok() ? answer.value() : error_json(public_error(answer.error())));
  } catch (...) {
    return copied(R"({"error":{"kind":"internal","message":"out of memory","fix":""}})");
  }
}

class AskedInC : public v1::Approver {
 public:
  AskedInC(cloche_approver approver, void* context) : approver_(approver), context_(context) {}
  v1::Answer ask(const v1::Question& question) override {
    const int answer = approver_(context_, cloche::question_json(question).c_str());
    if (answer == cloche_answer_once) return v1::Answer::once;
    return answer == cloche_answer_session ? v1::Answer::session : v1::Answer::no;
  }

 private:
  cloche_approver approver_;
  void* context_;
};

cloche::Error no_gateway() {
  return usage_error("gateway is NULL", "open one with cloche_open, and look at its error");
}

}  // namespace

extern "C" {

cloche_gateway* cloche_open(const char* options, char** error) {
  cloche_gateway* opened = nullptr;
  char* const failed = answered([&]() -> cloche::Result<std::string> {
    auto gateway = v1::Gateway::open(TRY(cloche::read_options(options == nullptr ? "{}" : options)));
    if (!gateway.ok()) return error_json(gateway.error());
    opened = new cloche_gateway{std::move(gateway).value()};
    return std::string();
  });
  if (opened == nullptr && error != nullptr) {
    *error = failed;
  } else {
    if (error != nullptr) *error = nullptr;
    std::free(failed);
  }
  return opened;
}

char* cloche_call_with_approver(cloche_gateway* gateway, const char* call, cloche_approver approver,
                                void* context) {
  return answered([&]() -> cloche::Result<std::string> {
    if (gateway == nullptr) return no_gateway();
    if (call == nullptr) return usage_error("call is NULL");
    v1::Call asked = TRY(cloche::read_call(call));
    asked.json = true;
    AskedInC answers(approver, context);
    v1::CallResult result = gateway->gateway.call(asked, approver == nullptr ? nullptr : &answers);
    if (result.json.empty()) return cloche::Error{.what = result.text};  // there was no memory for more
    return std::move(result.json);
  });
}

char* cloche_call(cloche_gateway* gateway, const char* call) {
  return cloche_call_with_approver(gateway, call, nullptr, nullptr);
}

char* cloche_tools(cloche_gateway* gateway, const char* format) {
  return answered([&]() -> cloche::Result<std::string> {
    if (gateway == nullptr) return no_gateway();
    const auto wanted = cloche::tool_format(format == nullptr ? "mcp" : format);
    if (!wanted) return usage_error("format: no such format", "known are mcp, openai and anthropic");
    auto tools = gateway->gateway.tools(static_cast<v1::ToolsFormat>(*wanted));
    return tools.ok() ? std::move(tools).value() : error_json(tools.error());
  });
}

void cloche_close(cloche_gateway* gateway) { delete gateway; }

void cloche_free(char* text) { std::free(text); }

const char* cloche_version(void) { return v1::version(); }

}  // extern "C"
// NOLINTEND(cppcoreguidelines-no-malloc)
