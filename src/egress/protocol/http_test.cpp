// Requests of plain HTTP in every shape, alone and one behind the other, cut anywhere, by table.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "egress/protocol/request_stream.hpp"

namespace cloche {
namespace {

Destination destination() { return {.name = *HostName::read("example.org").name, .port = 80}; }

const std::string get = "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n";
const std::string evil = "GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n";

std::string with(const std::string& fields, const std::string& body = "",
                 const std::string& version = "1.1") {
  return "POST /x HTTP/" + version + "\r\nHost: example.org\r\n" + fields + "\r\n" + body;
}

struct Passed {
  size_t bytes = 0;
  uint64_t requests = 0;
  std::string refused = {};
};

Passed pass_whole(const std::string& sent) {
  RequestStream stream(destination());
  const auto step = stream.feed(sent);
  return {step.forward, stream.requests(), std::string(step.refused)};
}

// As a connection would: what was forwarded is gone, what was not is shown again.
Passed pass_in_pieces(const std::string& sent, const std::vector<size_t>& pieces) {
  RequestStream stream(destination());
  Passed passed;
  std::string held;
  size_t at = 0;
  for (size_t piece = 0; at < sent.size() && passed.refused.empty(); ++piece) {
    const size_t size = pieces[piece % pieces.size()];
    held += sent.substr(at, size);
    at = std::min(sent.size(), at + size);
    const auto step = stream.feed(held);
    held.erase(0, step.forward);
    passed.bytes += step.forward;
    passed.refused = step.refused;
  }
  passed.requests = stream.requests();
  return passed;
}

struct Row {
  const char* what;
  std::string sent;
  std::string refused;  // a part of the reason; empty: all of it is passed on
  size_t bytes = 0;     // passed on before that
};

void expect(const Row& row) {
  const Passed passed = pass_whole(row.sent);
  EXPECT_EQ(passed.refused.empty(), row.refused.empty()) << row.what << " is " << passed.refused;
  EXPECT_NE(passed.refused.find(row.refused), std::string::npos) << row.what << " is " << passed.refused;
  EXPECT_EQ(passed.bytes, row.refused.empty() ? row.sent.size() : row.bytes) << row.what;
  for (const auto& pieces : {std::vector<size_t>{1}, {2}, {3, 1, 7}, {100}}) {
    const Passed slow = pass_in_pieces(row.sent, pieces);
    EXPECT_EQ(slow.refused, passed.refused) << row.what;
    EXPECT_EQ(slow.bytes, passed.bytes) << row.what;
    EXPECT_EQ(slow.requests, passed.requests) << row.what;
  }
}

TEST(HttpRequest, ToItsOwnHostPasses) {
  const std::string most = "GET / HTTP/1.1\r\nHost: example.org\r\nX: ";
  const Row rows[] = {
      {"plain", get, ""},
      {"nothing", "", ""},
      {"HTTP/1.0", "GET / HTTP/1.0\r\nHost: example.org\r\n\r\n", ""},
      {"the port", "GET / HTTP/1.1\r\nHost: example.org:80\r\n\r\n", ""},
      {"capitals and a dot", "GET / HTTP/1.1\r\nhOST:EXAMPLE.Org.\r\n\r\n", ""},
      {"spaces around it", "GET / HTTP/1.1\r\nHost: \t example.org \t\r\n\r\n", ""},
      {"Host at the end", "GET / HTTP/1.1\r\nAccept: */*\r\nHost: example.org\r\n\r\n", ""},
      {"a whole address", "GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\n\r\n", ""},
      {"a whole address with the port", "GET HTTP://Example.org:80 HTTP/1.1\r\nHost: example.org\r\n\r\n",
       ""},
      {"a star", "OPTIONS * HTTP/1.1\r\nHost: example.org\r\n\r\n", ""},
      {"a whole address with an at behind the slash",
       "GET http://example.org/?@b HTTP/1.1\r\nHost: example.org\r\n\r\n", ""},
      {"another method in small letters", "purge /a HTTP/1.1\r\nHost: example.org\r\n\r\n", ""},
      {"another method", "PROPFIND /a HTTP/1.1\r\nHost: example.org\r\n\r\n", ""},
      {"bytes beyond ASCII in a value", "GET / HTTP/1.1\r\nHost: example.org\r\nX: \xc3\xa4\t\xff\r\n\r\n",
       ""},
      {"an empty value", "GET / HTTP/1.1\r\nHost: example.org\r\nX:\r\n\r\n", ""},
      {"a body", with("Content-Length: 5\r\n", "hello"), ""},
      {"a body of nothing", with("Content-Length: 0\r\n"), ""},
      {"a body that looks like a request",
       with("Content-Length: " + std::to_string(evil.size()) + "\r\n", evil), ""},
      {"chunks",
       with("Transfer-Encoding: chunked\r\n",
            "5\r\nhello\r\n1F\r\n" + std::string(31, 'x') + "\r\n0\r\n\r\n"),
       ""},
      {"chunks, and other zeros", with("transfer-encoding: Chunked\r\n", "005\r\nhello\r\n000\r\n\r\n"), ""},
      {"chunks with ends of lines within",
       with("Transfer-Encoding: chunked\r\n", "4\r\n\r\n\r\n\r\n0\r\n\r\n"), ""},
      {"an offer of HTTP/2",
       with("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"), ""},
      {"as Java's client begins",
       "GET /x HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: 0\r\nHost: example.org\r\n"
       "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\nUpgrade: h2c\r\n\r\n",
       ""},
      {"as Node's fetch streams",
       "POST /x HTTP/1.1\r\nhost: example.org\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n"
       "2\r\nhi\r\n0\r\n\r\n",
       ""},
      {"to be kept", with("Connection: keep-alive\r\n"), ""},
      {"two, one behind the other", get + get, ""},
      {"behind a body", with("Content-Length: 5\r\n", "hello") + get + get, ""},
      {"behind chunks", with("Transfer-Encoding: chunked\r\n", "0\r\n\r\n") + get, ""},
      {"a head of 16 KiB",
       most + std::string(RequestStream::max_head_bytes - most.size() - 4, 'x') + "\r\n\r\n", ""},
  };
  for (const Row& row : rows) expect(row);
}

TEST(HttpRequest, IsRefusedWhereItsHostIsInDoubt) {
  const Row rows[] = {
      {"another host", evil, "Host is not the name"},
      {"a name below", "GET / HTTP/1.1\r\nHost: a.example.org\r\n\r\n", "Host is not the name"},
      {"another port", "GET / HTTP/1.1\r\nHost: example.org:8080\r\n\r\n", "Host is not the name"},
      {"an empty port", "GET / HTTP/1.1\r\nHost: example.org:\r\n\r\n", "Host is not the name"},
      {"the port in another spelling", "GET / HTTP/1.1\r\nHost: example.org:080\r\n\r\n",
       "Host is not the name"},
      {"an address", "GET / HTTP/1.1\r\nHost: 198.18.0.1\r\n\r\n", "Host is not the name"},
      {"a user", "GET / HTTP/1.1\r\nHost: a@example.org\r\n\r\n", "Host is not the name"},
      {"two in one", "GET / HTTP/1.1\r\nHost: example.org, evil.org\r\n\r\n", "Host is not the name"},
      {"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "Host is not the name"},
      {"no Host", "GET / HTTP/1.1\r\nAccept: */*\r\n\r\n", "names no Host"},
      {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "names no Host"},
      {"Host twice", "GET / HTTP/1.1\r\nHost: example.org\r\nHost: evil.org\r\n\r\n", "more than one Host"},
      {"Host twice, the same", "GET / HTTP/1.1\r\nHost: example.org\r\nhost: example.org\r\n\r\n",
       "more than one Host"},
      {"another whole address", "GET http://evil.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "for another host"},
      {"a whole address and another Host", "GET http://example.org/ HTTP/1.1\r\nHost: evil.org\r\n\r\n",
       "Host is not the name"},
      {"a whole address with a user",
       "GET http://example.org@evil.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "for another host"},
      {"a whole address with another port",
       "GET http://example.org:81/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "for another host"},
      {"a whole address without a host", "GET http:///x HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "for another host"},
      {"a backslash", "GET http://example.org\\@evil.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "for another host"},
      {"an address of https", "GET https://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "no known form"},
      {"a target without a slash", "GET example.org HTTP/1.1\r\nHost: example.org\r\n\r\n", "no known form"},
      {"a star for GET", "GET * HTTP/1.1\r\nHost: example.org\r\n\r\n", "no known form"},
      {"connect", "connect example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", "not in capitals"},
      {"get", "get / HTTP/1.1\r\nHost: example.org\r\n\r\n", "not in capitals"},
      {"Get", "Get / HTTP/1.1\r\nHost: example.org\r\n\r\n", "not in capitals"},
      {"a fragment", "GET /a#b HTTP/1.1\r\nHost: example.org\r\n\r\n", "has a # in it"},
      {"a fragment of a whole address",
       "GET http://example.org#@evil.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "has a # in it"},
      {"a user behind a question mark",
       "GET http://example.org?@evil.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "another host"},
      {"CONNECT", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", "CONNECT"},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 without TLS"},
      {"a counted body of GET", "GET / HTTP/1.1\r\nHost: example.org\r\nContent-Length: 35\r\n\r\n" + evil,
       "a request of this method has no body"},
      {"a chunked body of HEAD",
       "HEAD / HTTP/1.1\r\nHost: example.org\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "a request of this method has no body"},
      {"a body of TRACE", "TRACE / HTTP/1.1\r\nContent-Length: 1\r\nHost: example.org\r\n\r\nx",
       "a request of this method has no body"},
      {"HTTP/2 in the body that offers it",
       with("Content-Length: 24\r\nUpgrade: h2c\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
       "a request with a body offers HTTP/2"},
      {"the same in chunks", with("Upgrade: h2c\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       "a request with a body offers HTTP/2"},
      {"a WebSocket", with("Connection: Upgrade\r\nUpgrade: websocket\r\n"), "Upgrade asks"},
      {"another offer as well", with("Upgrade: h2c, websocket\r\n"), "Upgrade asks"},
  };
  for (const Row& row : rows) expect(row);
}

TEST(HttpRequest, IsRefusedWhereItsEndIsInDoubt) {
  const Row rows[] = {
      {"both", with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "in two ways"},
      {"both, the other way around", with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
       "in two ways"},
      {"two lengths", with("Content-Length: 5\r\nContent-Length: 6\r\n"), "in two ways"},
      {"two lengths, the same", with("Content-Length: 5\r\nContent-Length: 5\r\n"), "in two ways"},
      {"a list of lengths", with("Content-Length: 5, 5\r\n"), "one plain number"},
      {"a negative length", with("Content-Length: -1\r\n"), "one plain number"},
      {"a length with a sign", with("Content-Length: +5\r\n"), "one plain number"},
      {"a length in hexadecimal", with("Content-Length: 0x5\r\n"), "one plain number"},
      {"no length", with("Content-Length:\r\n"), "one plain number"},
      {"a length beyond numbers", with("Content-Length: 99999999999999999999\r\n"), "one plain number"},
      {"a length with a space in it", with("Content-Length: 1 2\r\n"), "one plain number"},
      {"another encoding", with("Transfer-Encoding: gzip\r\n"), "something else than chunked"},
      {"two encodings", with("Transfer-Encoding: gzip, chunked\r\n"), "something else than chunked"},
      {"chunked in quotes", with("Transfer-Encoding: \"chunked\"\r\n"), "something else than chunked"},
      {"chunked with a tail", with("Transfer-Encoding: chunked;q=1\r\n"), "something else than chunked"},
      {"identity", with("Transfer-Encoding: identity\r\n"), "something else than chunked"},
      {"chunked twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "in two ways"},
      {"chunked in HTTP/1.0", with("Transfer-Encoding: chunked\r\n", "", "1.0"), "HTTP/1.0 has no"},
      {"a lookalike", with("Transfer_Encoding: chunked\r\n"), "field of the request is malformed"},
      {"another lookalike", with("Content_Length: 5\r\n"), "field of the request is malformed"},
      {"dropping the length", with("Connection: close, Content-Length\r\nContent-Length: 5\r\n"),
       "Connection names"},
      {"dropping the host", with("Connection:host\r\n"), "Connection names"},
      {"a space before the colon", with("Content-Length : 5\r\n"), "field of the request is malformed"},
      {"a tab before the colon", with("Transfer-Encoding\t: chunked\r\n"),
       "field of the request is malformed"},
      {"a field on two lines", with("X: a\r\n b\r\n"), "second line"},
      {"an encoding on two lines", with("Transfer-Encoding:\r\n chunked\r\n"), "something else than chunked"},
      {"a field in front on two lines", "GET / HTTP/1.1\r\n Host: example.org\r\n\r\n", "second line"},
      {"no colon", with("nothing\r\n"), "field of the request is malformed"},
      {"no name", with(": x\r\n"), "field of the request is malformed"},
      {"a name with brackets", with("a(b): x\r\n"), "field of the request is malformed"},
      {"a name beyond ASCII", with("\xc3\xa4: x\r\n"), "field of the request is malformed"},
      {"LF alone", "GET / HTTP/1.1\nHost: example.org\n\n", "both CR and LF"},
      {"LF alone at the end", "GET / HTTP/1.1\r\nHost: example.org\r\n\n", "both CR and LF"},
      {"CR alone", "GET / HTTP/1.1\r\nHost: example.org\rX: y\r\n\r\n", "both CR and LF"},
      {"CR twice", "GET / HTTP/1.1\r\nHost: example.org\r\r\n\r\n", "both CR and LF"},
      {"a NUL", with(std::string("X: a\0b\r\n", 8)), "control character"},
      {"an escape", with("X: \x1b[2J\r\n"), "control character"},
      {"TLS", std::string("\x16\x03\x01\x02", 4), "control character"},
      {"an empty line in front", "\r\n" + get, "empty line"},
      {"HTTP/0.9", "GET /\r\n\r\n", "request line is malformed"},
      {"HTTP/0.9, of which no more comes", "GET /\r\n", "request line is malformed"},
      {"HTTP/2, before more comes", "PRI * HTTP/2.0\r\n", "HTTP/2 without TLS"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: example.org\r\n\r\n", "version of the request"},
      {"http in small letters", "GET / http/1.1\r\nHost: example.org\r\n\r\n", "version of the request"},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: example.org\r\n\r\n", "request line is malformed"},
      {"a space in the target", "GET /a b HTTP/1.1\r\nHost: example.org\r\n\r\n", "version of the request"},
      {"a tab for a space", "GET\t/ HTTP/1.1\r\nHost: example.org\r\n\r\n", "request line is malformed"},
      {"no method", " / HTTP/1.1\r\nHost: example.org\r\n\r\n", "request line is malformed"},
      {"a target beyond ASCII", "GET /\xc3\xa4 HTTP/1.1\r\nHost: example.org\r\n\r\n",
       "request line is malformed"},
      {"a head beyond 16 KiB", "GET / HTTP/1.1\r\nX: " + std::string(RequestStream::max_head_bytes, 'x'),
       "too long"},
      {"a head one byte beyond",
       get.substr(0, get.size() - 2) +
           "X: " + std::string(RequestStream::max_head_bytes - get.size() - 4, 'x') + "\r\n\r\n\r\n",
       "too long"},
  };
  for (const Row& row : rows) expect(row);
}

// Every request on a connection is judged, and what was good before a bad one has been passed on.
TEST(RequestStream, JudgesWhatFollows) {
  const std::string chunked = with("Transfer-Encoding: chunked\r\n");
  const std::string counted = with("Content-Length: 5\r\n", "hello");
  const Row rows[] = {
      {"another host behind", get + evil, "Host is not the name", get.size()},
      {"another host behind a body", counted + evil, "Host is not the name", counted.size()},
      {"another host behind chunks", chunked + "0\r\n\r\n" + evil, "Host is not the name",
       chunked.size() + 5},
      {"another host behind a body of nothing", with("Content-Length: 0\r\n") + evil, "Host is not the name",
       with("Content-Length: 0\r\n").size()},
      {"HTTP/2 after its offer", with("Upgrade: h2c\r\n") + "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
       "HTTP/2 without TLS", with("Upgrade: h2c\r\n").size()},
      {"an end of line behind a body", counted + "\r\n" + get, "empty line", counted.size()},
      {"data behind a body", counted + "\x81\x05hello", "control character", counted.size()},
      {"a chunk with an extension", chunked + "5;a=b\r\nhello\r\n0\r\n\r\n", "chunk", chunked.size()},
      {"a chunk with a space", chunked + "5 \r\nhello\r\n0\r\n\r\n", "chunk", chunked.size()},
      {"a chunk that ends with LF", chunked + "5\nhello\r\n0\r\n\r\n", "chunk", chunked.size()},
      {"a chunk that ends with CR", chunked + "5\rhello", "chunk", chunked.size()},
      {"a chunk of no size", chunked + "\r\nhello", "chunk", chunked.size()},
      {"a chunk of a negative size", chunked + "-5\r\nhello", "chunk", chunked.size()},
      {"a chunk with 0x", chunked + "0x5\r\nhello", "chunk", chunked.size()},
      {"a chunk beyond numbers", chunked + "ffffffffffffffff\r\n", "chunk", chunked.size()},
      {"a chunk that is longer than it says", chunked + "4\r\nhello\r\n0\r\n\r\n", "chunk",
       chunked.size() + 7},
      {"a chunk that is shorter", chunked + "6\r\nhello\r\n0\r\n\r\n", "chunk", chunked.size() + 9},
      {"trailers", chunked + "0\r\nHost: evil.org\r\n\r\n", "trailers", chunked.size() + 3},
      {"LF behind the last chunk", chunked + "0\r\n\n", "trailers", chunked.size() + 3},
  };
  for (const Row& row : rows) expect(row);
}

TEST(RequestStream, KnowsWhereItStands) {
  RequestStream stream(destination());
  EXPECT_TRUE(stream.is_between_requests());
  EXPECT_EQ(stream.feed(get.substr(0, 10)).forward, 0U) << "a head is passed on whole";
  EXPECT_FALSE(stream.is_between_requests());
  EXPECT_EQ(stream.feed(get).forward, get.size());
  EXPECT_TRUE(stream.is_between_requests());
  EXPECT_EQ(stream.requests(), 1U);
  EXPECT_EQ(stream.feed(with("Content-Length: 9\r\n", "hell")).forward,
            with("Content-Length: 9\r\n").size() + 4);
  EXPECT_FALSE(stream.is_between_requests());
  EXPECT_EQ(stream.feed("o").forward, 1U) << "a body is passed on as it comes";
  EXPECT_EQ(stream.feed(evil).forward, 4U) << "what is left of the body";
  EXPECT_FALSE(stream.feed(evil.substr(4)).refused.empty());
  EXPECT_FALSE(stream.feed(get).refused.empty()) << "a refusal stays";
}

// Whatever is sent and however it is cut: the same is passed on, and never a head for another host.
TEST(RequestStreamProperties, CutsMakeNoDifference) {
  std::mt19937 random(11);
  const std::string parts[] = {get,
                               get,
                               with("Content-Length: 5\r\n", "hello"),
                               with("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
                               with("Upgrade: h2c\r\n"),
                               evil,
                               "0\r\n\r\n",
                               "\r\n"};
  for (int i = 0; i < 5000; ++i) {
    std::string sent;
    for (size_t count = 1 + random() % 5; count > 0; --count) sent += parts[random() % std::size(parts)];
    if (random() % 2 == 0) sent[random() % sent.size()] = static_cast<char>(random() % 128);
    std::vector<size_t> pieces;
    for (size_t count = 1 + random() % 5; count > 0; --count) pieces.push_back(1 + random() % 40);
    const Passed whole = pass_whole(sent);
    const Passed slow = pass_in_pieces(sent, pieces);
    EXPECT_EQ(slow.bytes, whole.bytes) << sent;
    EXPECT_EQ(slow.refused, whole.refused) << sent;
    EXPECT_EQ(slow.requests, whole.requests) << sent;
  }
}

}  // namespace
}  // namespace cloche
