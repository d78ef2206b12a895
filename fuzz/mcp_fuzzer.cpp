// Feeds bytes to everything of `cloche mcp` that reads: lines, messages, both eras' requests, answers to
// questions and request states. Whatever is read, what is answered is one line of JSON that carries the id it
// came with, and the pieces in which the bytes come make no difference.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "doors/mcp/framing.hpp"
#include "doors/mcp/handshake_codec.hpp"
#include "doors/mcp/request_state.hpp"
#include "doors/mcp/shared_codec.hpp"
#include "doors/mcp/stateless_codec.hpp"

namespace {

using namespace cloche;
using namespace cloche::mcp;

constexpr size_t most_line_bytes = 4096;
constexpr uint64_t now = 1000;

void require(bool truth) {
  if (!truth) std::abort();
}

std::vector<std::string> lines_of(std::string_view bytes, size_t piece) {
  std::vector<std::string> lines;
  LineSplitter splitter(most_line_bytes);
  while (!bytes.empty()) {
    splitter.feed(bytes.substr(0, piece));
    while (const auto line = splitter.next()) lines.emplace_back(line->text);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (const auto line = splitter.last()) lines.emplace_back(line->text);
  return lines;
}

void check_written(const std::string& line, const std::string& id) {
  require(line.find('\n') == std::string::npos);
  const Line read = read_line(line);
  require(read.messages.size() == 1 && read.messages[0].problem.code != RpcError::parse_error);
  if (!id.empty()) require(read.messages[0].kind == Incoming::Kind::response && read.messages[0].id == id);
}

// Into an answer: an error as it is, of a request what quotes it.
Response answer_to(const Reading& reading) {
  if (const auto* error = std::get_if<RpcError>(&reading)) return *error;
  const auto* call = std::get_if<CallTool>(&std::get<Understood>(reading).request);
  if (call == nullptr) return Empty{};
  RequestStates states("key");
  if (call->state) require(!states.take(*call->state, "call", now).ok());  // it cannot be guessed
  if (call->responses) (void)choice_of(*call->responses);
  return ToolResult{.text = call->name, .structured = call->arguments, .meta = R"({"a":1})"};
}

void check_request(const Incoming& incoming) {
  check_written(stateless::write_response(incoming.id, answer_to(stateless::read_request(incoming))),
                incoming.id);
  for (const char* version : {"", "2025-11-25"}) {
    const Reading reading = handshake::read_request(incoming, {.version = version});
    check_written(handshake::write_response(incoming.id, answer_to(reading)), incoming.id);
  }
  check_written(stateless::write_acknowledgement(incoming.id), "");
}

void check_message(const Incoming& incoming) {
  (void)stateless::speaks(incoming);
  if (incoming.kind == Incoming::Kind::bad) check_written(write_error(incoming.id, incoming.problem), "");
  if (incoming.kind == Incoming::Kind::response) (void)choice_of(incoming.result);
  if (incoming.kind == Incoming::Kind::request) check_request(incoming);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto lines = lines_of(bytes, size + 1);
  require(lines == lines_of(bytes, 7));
  for (const auto& line : lines) {
    for (const auto& message : read_line(line).messages) check_message(message);
  }
  return 0;
}
