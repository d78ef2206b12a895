// What the two eras of the protocol have in common: the methods that are the same in both, and the bodies of
// results, which the stateless era only adds members to.
#pragma once

#include <optional>
#include <string>

#include "base/json/json_writer.hpp"
#include "doors/mcp/requests.hpp"
#include "policy/gates/approval.hpp"

namespace cloche::mcp {

// Nothing: it is no method of both eras.
std::optional<std::variant<Request, RpcError>> read_shared(const Incoming& incoming);

// The client's own word for what it can do: {"elicitation": {...}}. One without a mode is of before there
// were modes, and means the form.
bool elicits_forms(const JsonValue* capabilities);

// params._meta.progressToken, as JSON.
std::string progress_token_of(const Incoming& incoming);

RpcError no_such_method(const std::string& method);

// Into an object that is open. Nothing is written of an error or of a request for input.
void write_members(JsonWriter& out, const Response& response);
void write_server_info(JsonWriter& out);
// The question that stands before a user, as params of elicitation/create.
std::string elicitation_params(const std::string& message);

// What the user chose there, of {"action", "content"}: `decline`, and a form without one of the yes that were
// offered, is a no. `cancel`, which headless clients send by themselves, and what is no answer at all is
// none.
Reply choice_of(const JsonValue& result);

}  // namespace cloche::mcp
