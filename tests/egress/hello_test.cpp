// Port 443 end to end: the server gets a hello only if it names the host that was connected to. Each row of
// docs/egress.md that a client can send.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

std::string number(size_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string sized(const std::string& text, int bytes) { return number(text.size(), bytes) + text; }

std::string extension(unsigned type, const std::string& data) { return number(type, 2) + sized(data, 2); }

std::string server_name(const std::string& name) { return extension(0, sized('\0' + sized(name, 2), 2)); }

std::string record(const std::string& handshake, char type = 22, const std::string& version = "\x03\x01") {
  return type + version + sized(handshake, 2);
}

// A ClientHello message with these extensions; without any, not even their length.
std::string hello(const std::string& extensions) {
  std::string body = "\x03\x03" + std::string(32, 'r') + sized("", 1) + sized("\x13\x01", 2) +
                     sized(std::string(1, '\0'), 1);
  if (!extensions.empty()) body += sized(extensions, 2);
  return '\x01' + sized(body, 3);
}

// A hello holds the length of its name, so that %H cannot stand for it.
std::string name_of_row(size_t row, int table) {
  return "r" + std::to_string(row) + ".t" + std::to_string(table) + ".shapes.cloche.test";
}

class Hello : public Shapes {};

TEST_P(Hello, EachShapeHasItsAnswer) {
  const std::string tls12 = extension(43, sized("\x03\x04", 1));
  const auto named = [&](const std::string& name) { return hello(server_name(name) + tls12); };
  std::vector<Shape> shapes;
  const int table = next_table();
  const auto own = [&] { return name_of_row(shapes.size(), table); };
  const auto add = [&](Shape shape) { shapes.push_back(std::move(shape)); };
  constexpr size_t byte_by_byte = 1;

  add({.what = "one hello in one piece", .bytes = record(named(own()))});
  add({.what = "byte by byte", .bytes = record(named(own())), .piece = byte_by_byte});
  add({.what = "seven bytes at a time", .bytes = record(named(own())), .piece = 7});
  const std::string cut = named(own());
  add({.what = "two records", .bytes = record(cut.substr(0, 20)) + record(cut.substr(20)), .piece = 11});
  add({.what = "early data behind it", .bytes = record(named(own())) + record("data", 23)});
  add({.what = "capitals", .bytes = record(hello(server_name("R" + own().substr(1))))});
  add({.what = "no SNI", .bytes = record(hello(tls12)), .refused = "the hello names no server (no SNI)"});
  add({.what = "no extensions", .bytes = record(hello("")), .refused = "the hello names no server (no SNI)"});
  add({.what = "another name",
       .bytes = record(named("evil.example")),
       .refused = "the TLS greeting is for evil.example"});
  add({.what = "another name, byte by byte",
       .bytes = record(named("evil.example")),
       .refused = "the TLS greeting is for evil.example",
       .piece = byte_by_byte});
  add({.what = "a name with a NUL in it",
       .bytes = record(named("evil.example" + std::string(1, '\0') + "." + own())),
       .refused = "the hello's name is not the name of a host"});
  add({.what = "an address", .bytes = record(named("93.184.216.35")), .refused = "the hello's name is not"});
  add({.what = "a port", .bytes = record(named(own() + ":443")), .refused = "the hello's name is not"});
  add({.what = "SNI twice",
       .bytes = record(hello(server_name(own()) + server_name(own()))),
       .refused = "the hello names more than one server"});
  add({.what = "two names in it",
       .bytes =
           record(hello(extension(0, sized('\0' + sized(own(), 2) + '\0' + sized("evil.example", 2), 2)))),
       .refused = "the hello names more than one server"});
  add({.what = "ECH",
       .bytes = record(hello(server_name(own()) + extension(0xfe0d, "anything"))),
       .refused = "the hello holds an encrypted one (ECH)"});
  add({.what = "SSL 3",
       .bytes = record(named(own()), 22, std::string("\x03\x00", 2)),
       .refused = "the hello is of an unknown version"});
  add({.what = "SSL 2",
       .bytes = "\x80\x2e\x01" + std::string("\x00\x02", 2) + std::string(40, 'x'),
       .refused = "a hello of SSL 2"});
  add({.what = "plain HTTP",
       .bytes = "GET / HTTP/1.1\r\nHost: %H\r\n\r\n",
       .refused = "it is no TLS but plain text"});
  add({.what = "SSH", .bytes = "SSH-2.0-OpenSSH_9\r\n", .refused = "it is no TLS"});
  add({.what = "an alert first",
       .bytes = record(std::string("\x01\x00", 2), 21),
       .refused = "the connection begins with a record that is no handshake"});
  add({.what = "an alert within",
       .bytes = record(cut.substr(0, 20)) + record("xx", 21),
       .refused = "another record stands within the hello"});
  add({.what = "another message behind it",
       .bytes = record(named(own()) + hello("")),
       .refused = "another message stands behind the hello"});
  add({.what = "a server's hello",
       .bytes = record('\x02' + named(own()).substr(1)),
       .refused = "the handshake begins with something else"});
  add({.what = "too long",
       .bytes =
           record(hello(server_name(own()) + extension(21, std::string(16'000, '\0'))).substr(0, 16'000)) +
           record(std::string(3000, '\0')),
       .refused = "the hello is "});
  add({.what = "lengths that do not add up",
       .bytes = record(named(own()).replace(38, 1, 1, '\x40')),
       .refused = "the hello is malformed"});
  expect(stage().https, 443, shapes);
}

// What real clients are told when the name is another one than the address stands for.
TEST_P(Hello, OtherNameAtTheAddressOfADeclaredOne) {
  NEEDS("curl");
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  const std::string before = stage().web.log();
  const Called called = shell({"web.cloche.test"},
                              "curl -sS -m 10 --connect-to other.cloche.test:443:web.cloche.test:443 "
                              "https://other.cloche.test/hello; echo $?",
                              with_authority());
  EXPECT_EQ(called.out, "35\n") << called;
  EXPECT_TRUE(called.denied(
      "egress: connect to web.cloche.test:443 refused: the TLS greeting is for other.cloche.test"))
      << called;
  EXPECT_EQ(stage().web.log(), before);
}

FOR_EVERYONE(Hello);

}  // namespace
}  // namespace cloche::test
