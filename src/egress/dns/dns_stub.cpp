#include "egress/dns/dns_stub.hpp"

namespace cloche::dns {
namespace {

enum Rcode : uint16_t {
  no_error = 0,
  format_error = 1,
  server_failed = 2,
  name_error = 3,
  not_implemented = 4,
  query_refused = 5
};

// The address of a name stays the same for as long as the call lasts.
constexpr uint32_t address_seconds = 60;
// That there is none may change when a question about it was answered.
constexpr uint32_t absence_seconds = 5;

bool is_look_up(uint16_t type) {
  return type == type_a || type == type_aaaa || type == type_https || type == type_svcb;
}

// The one record that may follow: OPT of the only version there is. Options in it (cookies, padding) are
// passed over.
bool take_opt(ByteReader& reader) {
  const bool is_root = reader.u8() == 0;
  const uint16_t type = reader.u16();
  reader.skip(2);  // the size that the asker takes
  reader.skip(1);
  const uint8_t version = reader.u8();
  reader.skip(2);
  (void)reader.block16();
  return reader.good() && is_root && type == type_opt && version == 0;
}

QueryKind read_question(ByteReader& reader, Bytes message, uint16_t additional, Query& query) {
  const auto name = take_name(reader, message, Compression::refused);
  query.type = reader.u16();
  query.type_class = reader.u16();
  if (!name || !reader.good()) return QueryKind::malformed;
  if (additional > 1 || (additional == 1 && !take_opt(reader)) || !reader.at_end())
    return QueryKind::malformed;
  query.has_edns = additional == 1;
  query.name = *name;
  query.host = host_name(*name);
  return query.type_class == class_in && is_look_up(query.type) ? QueryKind::look_up
                                                                : QueryKind::other_record;
}

void write_head(Message& out, const Query& query, Rcode rcode, uint16_t answers, uint16_t authorities) {
  const bool has_question = query.name.size() > 0;
  out.u16(query.id);
  const uint16_t kept =
      query.flags & (flag_recursion_desired | 0x7800);  // the operation comes back as it was
  out.u16(static_cast<uint16_t>(flag_response | kept | flag_recursion_available | rcode));
  out.u16(has_question ? 1 : 0);
  out.u16(answers);
  out.u16(authorities);
  out.u16(query.has_edns ? 1 : 0);
  if (!has_question) return;
  out.name(query.name);
  out.u16(query.type);
  out.u16(query.type_class);
}

void write_opt(Message& out) {
  out.u8(0);
  out.u16(type_opt);
  out.u16(max_query_bytes);
  out.u32(0);
  out.u16(0);
}

void write_address(Message& out, uint16_t type, const IpAddress& address) {
  out.u16(0xc000 | header_bytes);  // the name of the question
  out.u16(type);
  out.u16(class_in);
  out.u32(address_seconds);
  out.u16(static_cast<uint16_t>(address.view().size()));
  out.bytes(address.view());
}

// Of the root, with nothing in it but for how long an absence is remembered.
void write_absence(Message& out) {
  out.u8(0);
  out.u16(type_soa);
  out.u16(class_in);
  out.u32(absence_seconds);
  out.u16(2 + 5 * 4);
  out.u8(0);  // the names of a server and of a person
  out.u8(0);
  for (const uint32_t number : {1U, 3600U, 600U, 86400U, absence_seconds}) out.u32(number);
}

Rcode rcode_of_reply(const Query& query, Reply reply) {
  switch (query.asked) {
    case QueryKind::malformed: return format_error;
    case QueryKind::other_operation: return not_implemented;
    case QueryKind::other_record: return query_refused;
    case QueryKind::nothing:
    case QueryKind::look_up: break;
  }
  switch (reply) {
    case Reply::address:
    case Reply::no_data: return no_error;
    case Reply::no_such_name: return name_error;
    case Reply::refused: return query_refused;
    case Reply::server_failure: break;
  }
  return server_failed;
}

bool is_of_type(uint16_t type, const IpAddress& address) {
  return type == (address.family == IpAddress::Family::v4 ? type_a : type_aaaa);
}

}  // namespace

Query read_query(Bytes message) {
  Query query;
  ByteReader reader(message);
  query.id = reader.u16();
  query.flags = reader.u16();
  const uint16_t questions = reader.u16();
  const uint16_t answers = reader.u16();
  const uint16_t authorities = reader.u16();
  const uint16_t additional = reader.u16();
  if (!reader.good() || (query.flags & flag_response) != 0) return query;
  if (opcode_of(query.flags) != 0) {
    query.asked = QueryKind::other_operation;
  } else if (questions != 1 || answers != 0 || authorities != 0 || message.size() > max_query_bytes ||
             (query.flags & flag_truncated) != 0) {
    query.asked = QueryKind::malformed;
  } else {
    query.asked = read_question(reader, message, additional, query);
  }
  return query;
}

Message write_reply(const Query& query, Reply reply, const IpAddress& address) {
  Message out;
  if (query.asked == QueryKind::nothing) return out;
  const Rcode rcode = rcode_of_reply(query, reply);
  const bool with_address = rcode == no_error && reply == Reply::address && is_of_type(query.type, address);
  const bool with_absence = (rcode == no_error && !with_address) || rcode == name_error;
  write_head(out, query, rcode, with_address ? 1 : 0, with_absence ? 1 : 0);
  if (with_address) write_address(out, query.type, address);
  if (with_absence) write_absence(out);
  if (query.has_edns) write_opt(out);
  return out;
}

}  // namespace cloche::dns
