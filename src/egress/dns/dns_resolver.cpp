#include "egress/dns/dns_resolver.hpp"

namespace cloche::dns {
namespace {

constexpr int max_aliases = 8;
// More than this no server puts into one answer; each walk is over all of them.
constexpr uint16_t max_records = 128;
// What arrives whole over most paths.
constexpr uint16_t udp_bytes = 1232;

using Kind = Answer::Kind;

uint16_t type_of(const Question& question) {
  return question.family == IpAddress::Family::v4 ? type_a : type_aaaa;
}

struct Record {
  WireName name;
  uint16_t type = 0;
  uint16_t type_class = 0;
  Bytes data = {};
  size_t data_at = 0;
};

std::optional<Record> take_record(ByteReader& reader, Bytes message) {
  const auto name = take_name(reader, message, Compression::followed);
  if (!name) return {};
  Record record{.name = *name};
  record.type = reader.u16();
  record.type_class = reader.u16();
  reader.skip(4);  // for how long: what was asked is used at once and then forgotten
  const uint16_t length = reader.u16();
  record.data_at = reader.at();
  record.data = reader.bytes(length);
  if (!reader.good()) return {};
  return record;
}

// The name that fills the data of an alias.
std::optional<WireName> target_of(const Record& record, Bytes message) {
  ByteReader reader(message.first(record.data_at + record.data.size()), record.data_at);
  const auto name = take_name(reader, message, Compression::followed);
  return reader.at_end() ? name : std::nullopt;
}

// The records that answer, of which there are `count` at `at`.
class Records {
 public:
  Records(Bytes message, size_t at, uint16_t count) : message_(message), at_(at), count_(count) {}

  // Calls `use` with each; false: one of them, or `use`, was no good.
  template <typename Use>
  bool each(Use use) const {
    ByteReader reader(message_, at_);
    for (uint16_t i = 0; i < count_; ++i) {
      const auto record = take_record(reader, message_);
      if (!record || !use(*record)) return false;
    }
    return true;
  }

  // Where the aliases of `name` end. Nothing: they go in circles, on for too long, or one name has two of
  // them.
  std::optional<WireName> follow(WireName name) const {
    for (int aliases = 0; aliases <= max_aliases; ++aliases) {
      std::optional<WireName> next;
      const bool good = each([&](const Record& record) {
        if (record.type != type_cname || record.type_class != class_in || !same_name(record.name, name))
          return true;
        const auto target = target_of(record, message_);
        if (!target || next) return false;
        next = target;
        return true;
      });
      if (!good) return {};
      if (!next) return name;
      name = *next;
    }
    return {};
  }

  bool collect(const WireName& name, uint16_t type, Answer& answer) const {
    return each([&](const Record& record) {
      if (record.type != type || record.type_class != class_in || !same_name(record.name, name)) return true;
      if (record.data.size() != (type == type_a ? 4U : 16U)) return false;
      if (answer.count == max_addresses) return true;
      answer.list[answer.count++] =
          type == type_a ? IpAddress::v4(record.data.first<4>()) : IpAddress::v6(record.data.first<16>());
      return true;
    });
  }

 private:
  Bytes message_;
  size_t at_;
  uint16_t count_;
};

bool is_question(ByteReader& reader, Bytes message, const Question& question) {
  const auto name = take_name(reader, message, Compression::refused);
  const uint16_t type = reader.u16();
  const uint16_t type_class = reader.u16();
  return name && reader.good() && type == type_of(question) && type_class == class_in &&
         same_name(*name, wire_name(question.name));
}

Answer read_records(Bytes message, size_t at, uint16_t count, const Question& question) {
  if (count > max_records) return {.kind = Kind::malformed};
  const Records records(message, at, count);
  Answer answer{.kind = Kind::addresses};
  const auto name = records.follow(wire_name(question.name));
  if (!name || !records.collect(*name, type_of(question), answer)) return {.kind = Kind::malformed};
  return answer;
}

}  // namespace

Message write_question(const Question& question) {
  Message out;
  out.u16(question.id);
  out.u16(flag_recursion_desired);
  for (const uint16_t count : std::array<uint16_t, 4>{1, 0, 0, 1}) out.u16(count);
  out.name(wire_name(question.name));
  out.u16(type_of(question));
  out.u16(class_in);
  out.u8(0);
  out.u16(type_opt);
  out.u16(udp_bytes);
  out.u32(0);
  out.u16(0);
  return out;
}

Answer read_answer(Bytes message, const Question& question) {
  ByteReader reader(message);
  const uint16_t id = reader.u16();
  const uint16_t flags = reader.u16();
  const uint16_t questions = reader.u16();
  const uint16_t answers = reader.u16();
  reader.skip(4);
  const bool is_answer = (flags & flag_response) != 0 && opcode_of(flags) == 0;
  if (!reader.good() || id != question.id || !is_answer || questions != 1) return {};
  if (!is_question(reader, message, question)) return {};
  if (message.size() > max_answer_bytes) return {.kind = Kind::malformed};
  if ((flags & flag_truncated) != 0) return {.kind = Kind::truncated};
  switch (rcode_of(flags)) {
    case 0: return read_records(message, reader.at(), answers, question);
    case 3: return {.kind = Kind::no_such_name};
    default: return {.kind = Kind::failed};
  }
}

}  // namespace cloche::dns
