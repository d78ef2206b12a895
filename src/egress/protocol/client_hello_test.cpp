// Hellos of TLS in every shape, cut anywhere, by table.
#include "egress/protocol/client_hello.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace cloche {
namespace {

using Octets = std::vector<uint8_t>;

Octets octets(std::string_view text) { return {text.begin(), text.end()}; }

Octets operator+(Octets a, const Octets& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Octets number(size_t value, int width) {
  Octets out;
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<uint8_t>(value >> shift));
  return out;
}

Octets block(int width, const Octets& content) { return number(content.size(), width) + content; }

Octets extension(unsigned type, const Octets& content) { return number(type, 2) + block(2, content); }
Octets entry(std::string_view name, uint8_t kind = 0) { return Octets{kind} + block(2, octets(name)); }
Octets server_name(std::string_view name) { return extension(0, block(2, entry(name))); }

const Octets versions = extension(43, {4, 3, 4, 3, 3});
const Octets padding = extension(21, Octets(400));

Octets hello_body(const Octets& tail) {
  return Octets{3, 3} + Octets(32, 7) + block(1, Octets(32, 8)) + block(2, {0x13, 1, 0x13, 2}) +
         block(1, {0}) + tail;
}
Octets message(const Octets& body, uint8_t type = 1) { return Octets{type} + block(3, body); }
Octets record(const Octets& content, uint8_t type = 22, uint8_t minor = 1) {
  return Octets{type, 3, minor} + block(2, content);
}
Octets hello(const Octets& extensions) { return record(message(hello_body(block(2, extensions)))); }

// The same message in records of `size` bytes.
Octets in_records(const Octets& whole, size_t size) {
  Octets out;
  for (size_t at = 0; at < whole.size(); at += size)
    out = out + record(Octets(whole.begin() + static_cast<long>(at),
                              whole.begin() + static_cast<long>(std::min(whole.size(), at + size))));
  return out;
}

std::string shown(const Hello& hello) {
  switch (hello.state) {
    case Hello::State::need_more: return "need more";
    case Hello::State::named: return std::string(hello.name->text());
    case Hello::State::refused: break;
  }
  return "refused: " + std::string(hello.reason);
}

std::string read_whole(const Octets& stream) { return shown(ClientHelloReader().read(stream)); }

// Byte by byte, as the slowest of networks brings it.
std::string read_slowly(const Octets& stream) {
  ClientHelloReader reader;
  for (size_t have = 0; have <= stream.size(); ++have) {
    const Hello hello = reader.read(Bytes(stream).first(have));
    if (hello.state != Hello::State::need_more) return shown(hello);
  }
  return "need more";
}

TEST(ClientHello, EachShapeHasItsAnswer) {
  const Octets good = server_name("example.org");
  const Octets good_message = message(hello_body(block(2, versions + good + padding)));
  const struct {
    const char* what;
    Octets stream;
    std::string answer;
  } rows[] = {
      {"plain", hello(good), "example.org"},
      {"among others", hello(versions + good + padding), "example.org"},
      {"capitals and a dot", hello(server_name("EXAMPLE.Org.")), "example.org"},
      {"records of one byte", in_records(good_message, 1), "example.org"},
      {"records of three bytes", in_records(good_message, 3), "example.org"},
      {"records of a hundred bytes", in_records(good_message, 100), "example.org"},
      {"early data behind it", hello(good) + record({1}, 20) + record(Octets(50), 23), "example.org"},
      {"the version of TLS 1.2 on the record", record(good_message, 22, 3), "example.org"},
      {"8 KiB of hello", hello(good + extension(51, Octets(8000))), "example.org"},
      {"nothing", {}, "need more"},
      {"a first byte", {22}, "need more"},
      {"half", record(Octets(good_message.begin(), good_message.begin() + 40)), "need more"},

      {"no SNI", hello(versions), "refused: the hello names no server"},
      {"no extensions", record(message(hello_body({}))), "refused: the hello names no server"},
      {"an empty list of extensions", hello({}), "refused: the hello names no server"},
      {"SNI twice", hello(good + versions + good), "refused: the hello names more than one"},
      {"two names", hello(extension(0, block(2, entry("example.org") + entry("evil.org")))),
       "refused: the hello names more than one"},
      {"a name of another kind", hello(extension(0, block(2, entry("example.org", 1)))),
       "refused: the hello is malformed"},
      {"no name in the list", hello(extension(0, block(2, {}))), "refused: the hello is malformed"},
      {"an empty SNI", hello(extension(0, {})), "refused: the hello is malformed"},
      {"an empty name", hello(server_name("")), "refused: the hello's name is not"},
      {"bytes behind the list", hello(extension(0, block(2, entry("example.org")) + Octets{0})),
       "refused: the hello is malformed"},
      {"an address", hello(server_name("127.0.0.1")), "refused: the hello's name is not"},
      {"an address of IPv6", hello(server_name("::1")), "refused: the hello's name is not"},
      {"a NUL", hello(server_name(std::string_view("evil.org\0.example.org", 21))),
       "refused: the hello's name is not"},
      {"letters beyond ASCII", hello(server_name("b\xc3\xbc.de")), "refused: the hello's name is not"},
      {"a port", hello(server_name("example.org:443")), "refused: the hello's name is not"},
      {"a name of 300", hello(server_name(std::string(300, 'a'))), "refused: the hello's name is not"},

      {"ECH", hello(good + extension(0xfe0d, Octets(200))), "refused: the hello holds an encrypted one"},
      {"ECH before the name", hello(extension(0xfe0d, Octets(200)) + good),
       "refused: the hello holds an encrypted one"},
      {"ECH of a draft", hello(good + extension(0xfe0a, {1})), "refused: the hello holds an encrypted one"},
      {"ESNI", hello(good + extension(0xffce, {1})), "refused: the hello holds an encrypted one"},

      {"SSL 2", Octets{0x80, 0x2e, 1, 3, 1, 0, 0x15}, "refused: a hello of SSL 2"},
      {"plain HTTP", octets("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"),
       "refused: it is no TLS but plain text"},
      {"SSH", octets("SSH-2.0-OpenSSH_9.6\r\n"), "refused: it is no TLS but plain text, as of HTTP or SSH"},
      {"HTTP/2 without TLS", octets("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
       "refused: it is no TLS but plain text"},
      {"SSH", octets("SSH-2.0-x\r\n"), "refused: it is no TLS"},
      {"zeros", Octets(20), "refused: it is no TLS"},
      {"an alert", record({2, 40}, 21), "refused: the connection begins with a record"},
      {"data", record(Octets(20), 23), "refused: the connection begins with a record"},
      {"a change of ciphers", record({1}, 20), "refused: the connection begins with a record"},
      {"data within the hello",
       record(Octets(good_message.begin(), good_message.begin() + 9)) + record({1}, 23),
       "refused: another record"},
      {"a hello of the server's", record(message(hello_body(block(2, good)), 2)),
       "refused: the handshake begins with"},
      {"SSL 3", record(good_message, 22, 0), "refused: the hello is of an unknown version"},
      {"TLS of another world", Octets{22, 4, 1, 0, 1, 1}, "refused: the hello is of an unknown version"},
      {"an empty record", record({}) + record(good_message), "refused: the hello is malformed"},
      {"a record beyond 16 KiB", Octets{22, 3, 1, 0x40, 1}, "refused: the hello is malformed"},
      {"a hello beyond 16 KiB", record({1, 0, 0x40, 0}), "refused: the hello is too long"},
      {"a hello of 16 MiB", record({1, 0xff, 0xff, 0xff}), "refused: the hello is too long"},
      {"16 KiB in records of one byte", in_records(message(Octets(16000)), 1),
       "refused: the hello is too long"},
      {"another message in the same record", record(good_message + good_message),
       "refused: another message stands behind"},
      {"a body that ends early", record(message({3, 3, 1, 2})), "refused: the hello is malformed"},
      {"an empty body", record(message({})), "refused: the hello is malformed"},
      {"bytes behind the extensions", record(message(hello_body(block(2, good) + Octets{0}))),
       "refused: the hello is malformed"},
      {"extensions that end early", record(message(hello_body(number(good.size() + 4, 2) + good))),
       "refused: the hello is malformed"},
      {"half an extension", hello(good + Octets{0, 1, 0}), "refused: the hello is malformed"},
      {"an extension beyond the end", hello(good + Octets{0, 1, 0, 9, 1}), "refused: the hello is malformed"},
      {"no ciphers",
       record(
           message(Octets{3, 3} + Octets(32) + block(1, {}) + block(2, {}) + block(1, {0}) + block(2, good))),
       "refused: the hello is malformed"},
      {"half a cipher",
       record(message(Octets{3, 3} + Octets(32) + block(1, {}) + block(2, {1}) + block(1, {0}) +
                      block(2, good))),
       "refused: the hello is malformed"},
      {"no compression",
       record(message(Octets{3, 3} + Octets(32) + block(1, {}) + block(2, {1, 1}) + block(1, {}) +
                      block(2, good))),
       "refused: the hello is malformed"},
      {"a session of 33 bytes",
       record(message(Octets{3, 3} + Octets(32) + block(1, Octets(33)) + block(2, {1, 1}) + block(1, {0}) +
                      block(2, good))),
       "refused: the hello is malformed"},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(read_whole(row.stream).starts_with(row.answer))
        << row.what << " is " << read_whole(row.stream);
    EXPECT_EQ(read_slowly(row.stream), read_whole(row.stream)) << row.what;
  }
}

// As the programs on a machine really send them: the seeds of the fuzzer.
TEST(ClientHello, OfRealClientsAreRead) {
  const std::string seeds = CLOCHE_SOURCE_DIR "/fuzz/seeds_hello/";
  for (const char* client : {"curl", "go", "java", "node", "openssl", "openssl_tls12", "python"}) {
    std::ifstream file(seeds + client, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(read_whole(octets(bytes)), "example.org") << client;
  }
}

// What comes in pieces is answered as what comes at once, wherever the cuts are.
TEST(ClientHelloProperties, CutsMakeNoDifference) {
  std::mt19937 random(8);
  for (int i = 0; i < 3000; ++i) {
    const Octets whole = message(hello_body(block(2, versions + server_name("a.example.org") + padding)));
    Octets stream = in_records(whole, 1 + random() % 700);
    if (random() % 4 == 0) stream[random() % stream.size()] = static_cast<uint8_t>(random());
    ClientHelloReader reader;
    std::string slow = "need more";
    for (size_t have = 0; slow == "need more" && have < stream.size();) {
      have = std::min(stream.size(), have + 1 + random() % 300);
      slow = shown(reader.read(Bytes(stream).first(have)));
    }
    EXPECT_EQ(slow, read_whole(stream));
  }
}

// A name is only ever given for a stream that holds its letters.
TEST(ClientHelloProperties, DamagedHellosAreRefusedOrWaitedFor) {
  std::mt19937 random(10);
  const Octets whole = hello(versions + server_name("example.org"));
  for (int i = 0; i < 50000; ++i) {
    Octets stream = whole;
    for (size_t changes = 1 + random() % 3; changes > 0; --changes)
      stream[random() % stream.size()] = static_cast<uint8_t>(random());
    stream.resize(stream.size() - random() % 3);
    const Hello read = ClientHelloReader().read(stream);
    if (read.state == Hello::State::named) {
      EXPECT_GE(read.name->text().size(), std::string_view("example.or.").size() - 1)
          << "a dot at the end is none";
    }
  }
}

}  // namespace
}  // namespace cloche
