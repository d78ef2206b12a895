#include "tools/answer/reply.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/utf8.hpp"

namespace cloche {
namespace {

std::string note_of(const Excerpt& shown, uint64_t size, uint64_t offset) {
  if (shown.more) {
    return "[bytes " + std::to_string(offset) + " to " + std::to_string(shown.next) + " of " +
           std::to_string(size) + "; for more use offset " + std::to_string(shown.next) + "]";
  }
  if (offset == 0) return size == 0 ? "[it is empty]" : "";
  if (shown.bytes == 0)
    return "[there is nothing at offset " + std::to_string(offset) + ": it has " + std::to_string(size) +
           " bytes]";
  return "[bytes " + std::to_string(offset) + " to " + std::to_string(shown.next) + ", the end]";
}

}  // namespace

ToolReply failed_reply(std::string why) { return {std::move(why), true}; }

Excerpt excerpt(const FilePart& part, uint64_t offset) {
  std::string_view bytes = part.bytes;
  // A character that the limit cut in two is left for the next part; at the very end it is just broken.
  const bool cut = offset + bytes.size() < part.size;
  const size_t tail = cut ? utf8::unfinished_tail(bytes) : 0;
  if (tail < bytes.size()) bytes.remove_suffix(tail);
  Excerpt shown;
  shown.text = utf8::with_replacements(bytes);
  shown.bytes = bytes.size();
  shown.next = offset + bytes.size();
  shown.more = shown.next < part.size;
  shown.note = note_of(shown, part.size, offset);
  return shown;
}

ToolReply show_excerpt(const std::string& name, const std::string& of, const FilePart& part,
                       uint64_t offset) {
  const Excerpt shown = excerpt(part, offset);
  JsonWriter json;
  json.begin_object().member(name, of).member("content", shown.text).member("offset", offset);
  json.member("bytes", shown.bytes).member("size", part.size).member("more", shown.more);
  json.member("next_offset", shown.next).end_object();
  ToolReply reply = {shown.text, false, json.text()};
  if (!shown.note.empty()) {
    if (!reply.text.empty() && reply.text.back() != '\n') reply.text += '\n';
    reply.text += shown.note;
  }
  return reply;
}

std::string excerpt_schema(const std::string& name) {
  return R"({"type": "object", "additionalProperties": false, "properties": {)" + json_quote(name) +
         R"(: {"type": "string"}, "content": {"type": "string"},
    "offset": {"type": "integer", "minimum": 0}, "bytes": {"type": "integer", "minimum": 0},
    "size": {"type": "integer", "minimum": 0}, "more": {"type": "boolean"},
    "next_offset": {"type": "integer", "minimum": 0}},
    "required": [)" +
         json_quote(name) + R"(, "content", "offset", "bytes", "size", "more", "next_offset"]})";
}

}  // namespace cloche
