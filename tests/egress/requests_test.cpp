// Port 80 end to end: a server gets the requests that are for the host that was connected to, and of those
// that leave a doubt not a byte. Each row of docs/egress.md that a client can send.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

constexpr const char* other_host = "Host is not the name that was connected to";
constexpr const char* other_target = "the request is for another host than the name that was connected to";
constexpr const char* bad_field = "a field of the request is malformed";
constexpr const char* bad_chunk = "a chunk of the request's body is malformed";
constexpr const char* bad_length = "Content-Length is not one plain number";
constexpr const char* bad_encoding = "Transfer-Encoding is something else than chunked";

const std::string get = "GET / HTTP/1.1\r\nHost: %H\r\n\r\n";
const std::string post = "POST / HTTP/1.1\r\nHost: %H\r\n";
const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";

class Requests : public Shapes {};

TEST_P(Requests, ThatArePassedOn) {
  expect(stage().http, 80,
         {{"one request", get},
          {"byte by byte", get, "", 1},
          {"with its port, in capitals", "GET / HTTP/1.1\r\nHOST: %H:80\r\n\r\n"},
          {"HTTP/1.0 with Host", "GET / HTTP/1.0\r\nHost: %H\r\n\r\n"},
          {"absolute form", "GET http://%H/x?y HTTP/1.1\r\nHost: %H\r\n\r\n"},
          {"about the server", "OPTIONS * HTTP/1.1\r\nHost: %H\r\n\r\n"},
          {"a body by its length", post + "Content-Length: 5\r\n\r\nHost:"},
          {"a body in chunks", chunked + "5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n"},
          {"a body in chunks, byte by byte", chunked + "5\r\nhello\r\n0\r\n\r\n", "", 1},
          {"two requests at once", get + get},
          {"a body that looks like a request",
           post + "Content-Length: 38\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n" + get},
          {"h2c is offered", "GET / HTTP/1.1\r\nHost: %H\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"},
          // As `printf ... | nc -N` does.
          {.what = "the client ends its side at once", .bytes = get, .half = true}});
}

TEST_P(Requests, ThatAreRefused) {
  expect(
      stage().http, 80,
      {{"no Host", "GET / HTTP/1.1\r\n\r\n", "the request names no Host"},
       {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "the request names no Host"},
       {"another host", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", other_host},
       {"another host, byte by byte", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", other_host, 1},
       {"another port", "GET / HTTP/1.1\r\nHost: %H:8080\r\n\r\n", other_host},
       {"an address", "GET / HTTP/1.1\r\nHost: 93.184.216.35\r\n\r\n", other_host},
       {"Host twice", "GET / HTTP/1.1\r\nHost: %H\r\nHost: %H\r\n\r\n",
        "the request names more than one Host"},
       {"two hosts", "GET / HTTP/1.1\r\nHost: %H\r\nHost: evil.example\r\n\r\n",
        "the request names more than one Host"},
       {"absolute form of another", "GET http://evil.example/ HTTP/1.1\r\nHost: %H\r\n\r\n", other_target},
       {"absolute form with a user", "GET http://%H@evil.example/ HTTP/1.1\r\nHost: %H\r\n\r\n",
        other_target},
       {"absolute form of https", "GET https://%H/ HTTP/1.1\r\nHost: %H\r\n\r\n",
        "the request's target is of no known form"},
       {"absolute form with a user behind a question mark",
        "GET http://%H?@evil.example/ HTTP/1.1\r\nHost: %H\r\n\r\n", other_target},
       {"a fragment", "GET /#@evil.example/ HTTP/1.1\r\nHost: %H\r\n\r\n",
        "the request's target has a # in it"},
       {"a method in small letters", "get / HTTP/1.1\r\nHost: %H\r\n\r\n",
        "the request's method is not in capitals"},
       {"CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: %H\r\n\r\n",
        "CONNECT asks for a way to somewhere else"},
       {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 without TLS cannot be judged"},
       {"HTTP/0.9", "GET /\r\n", "the request line is malformed"},
       {"TLS", std::string("\x16\x03\x01\x00\x10", 5) + std::string(16, 'x'),
        "the request's head holds a control character"},
       {"an empty line first", "\r\n" + get, "an empty line stands where a request begins"},
       {"LF alone", "GET / HTTP/1.1\nHost: %H\n\n", "a line of the request ends without both CR and LF"},
       {"a NUL", "GET / HTTP/1.1\r\nHost: %H" + std::string(1, '\0') + ".evil\r\n\r\n",
        "the request's head holds a control character"},
       {"a field on two lines", "GET / HTTP/1.1\r\nHost: %H\r\nX: a\r\n b\r\n\r\n",
        "a field of the request goes on in a second line"},
       {"a space before the colon", "GET / HTTP/1.1\r\nHost : %H\r\n\r\n", bad_field},
       {"a request in the body of a GET",
        "GET / HTTP/1.1\r\nHost: %H\r\nContent-Length: 36\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "a request of this method has no body"},
       {"HTTP/2 in the body that offers it",
        "POST / HTTP/1.1\r\nHost: %H\r\nUpgrade: h2c\r\nContent-Length: 24\r\n\r\nPRI * "
        "HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a request with a body offers HTTP/2"},
       {"WebSocket", "GET / HTTP/1.1\r\nHost: %H\r\nUpgrade: websocket\r\n\r\n",
        "Upgrade asks for another protocol"},
       {"Connection drops Host", "GET / HTTP/1.1\r\nHost: %H\r\nConnection: close, host\r\n\r\n",
        "Connection names a field that must not be dropped"},
       {"a head of 20 KiB", "GET / HTTP/1.1\r\nHost: %H\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n",
        "the request's head is too long"}});
}

TEST_P(Requests, ThatSmuggle) {
  expect(stage().http, 80,
         {{"both lengths", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "the end of the request's body is said in two ways"},
          {"both lengths the other way",
           post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
           "the end of the request's body is said in two ways"},
          {"two lengths", post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nxxxxx",
           "the end of the request's body is said in two ways"},
          {"a list of lengths", post + "Content-Length: 4, 4\r\n\r\nxxxx", bad_length},
          {"a length with a sign", post + "Content-Length: +4\r\n\r\nxxxx", bad_length},
          {"a length below zero", post + "Content-Length: -1\r\n\r\n", bad_length},
          {"a length in sixteens", post + "Content-Length: 0x4\r\n\r\nxxxx", bad_length},
          {"an encoding that is none", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", bad_encoding},
          {"two encodings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", bad_encoding},
          {"identity", post + "Transfer-Encoding: identity\r\n\r\n", bad_encoding},
          {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nHost: %H\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
           "HTTP/1.0 has no Transfer-Encoding"},
          {"an underscore", post + "Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n", bad_field},
          {"a tab before the colon", post + "Content-Length\t: 4\r\n\r\nxxxx", bad_field},
          {"a chunk with an extension", chunked + "5;x=y\r\nhello\r\n0\r\n\r\n", bad_chunk},
          {"a chunk of 0x5", chunked + "0x5\r\nhello\r\n0\r\n\r\n", bad_chunk},
          {"a chunk that ends in LF", chunked + "5\nhello\r\n0\r\n\r\n", bad_chunk},
          {"trailers", chunked + "0\r\nHost: evil.example\r\n\r\n", "the request has fields behind its body"},
          {"pipelined: the second is for another", get + "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
           other_host},
          {"pipelined behind a body",
           post + "Content-Length: 2\r\n\r\nxxGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", other_host}});
}

// The second request on a connection that is kept open, as clients with a pool make it.
TEST_P(Requests, EveryOneOnAConnectionIsJudged) {
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  file("two.py", R"(import http.client
c = http.client.HTTPConnection('web.cloche.test', timeout=10)
c.request('GET', '/hello'); print(c.getresponse().read())
c.request('GET', '/hello', headers={'Host': 'web.cloche.test'}); print(c.getresponse().read())
try:
  c.request('GET', '/hello', headers={'Host': 'other.cloche.test'}); print(c.getresponse().read())
except OSError as problem: print(type(problem).__name__)
)");
  const Called called = call({"web.cloche.test"}, {"/usr/bin/python3", "two.py"});
  EXPECT_EQ(called.out, "b'hello from there\\n'\nb'hello from there\\n'\nConnectionResetError\n") << called;
  EXPECT_TRUE(called.denied(other_host)) << called;
}

FOR_EVERYONE(Requests);

}  // namespace
}  // namespace cloche::test
