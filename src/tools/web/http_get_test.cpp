// http_get's addresses, redirects and answers: a row is a case and its answer.
#include "tools/web/http_get.hpp"

#include <gtest/gtest.h>

#include "tools/web/web_address.hpp"

namespace cloche {
namespace {

TEST(WebAddress, HasOneSpelling) {
  const struct {
    const char* text;
    const char* url;
    const char* host;
  } rows[] = {
      {"http://a.org", "http://a.org/", "a.org:80"},
      {"https://a.org/x?y=1#z", "https://a.org/x?y=1", "a.org:443"},
      {"HTTPS://A.ORG./X", "https://a.org/X", "a.org:443"},
      {"http://a.org:8080?q", "http://a.org:8080/?q", "a.org:8080"},
      {"http://a.org:443/", "http://a.org:443/", "a.org:443"},
      {"https://a.org:443/", "https://a.org/", "a.org:443"},
      {"http://a.org:/x", "http://a.org/x", "a.org:80"},
      {"http://localhost:8080/", "http://localhost:8080/", "localhost:8080"},
      {"http://XN--bcher-kva.example/", "http://xn--bcher-kva.example/", "xn--bcher-kva.example:80"},
      {"http://a.org/x/../y//z", "http://a.org/x/../y//z", "a.org:80"},
      {"http://a.org/a@b:c", "http://a.org/a@b:c", "a.org:80"},
      // No names: for the gate to refuse.
      {"http://10.0.0.1/", "http://10.0.0.1/", "10.0.0.1:80"},
      {"http://[::1]:80/", "http://[::1]/", "[::1]:80"},
      {"http://a.org:0/", "http://a.org:0/", "a.org:0"},
      {"http://a%2eorg/", "http://a%2eorg/", "a%2eorg:80"},
      {"http://\u00fc.example/", "http://\u00fc.example/", "\u00fc.example:80"},
  };
  for (const auto& row : rows) {
    const WebAddress address = read_web_address(row.text);
    EXPECT_EQ(address.problem, "") << row.text;
    EXPECT_EQ(address.url, row.url) << row.text;
    EXPECT_EQ(address.host, row.host) << row.text;
  }
}

TEST(WebAddress, WhatTwoReadersCouldReadDifferentlyIsNone) {
  for (const char* text : {"",
                           "a.org",
                           "//a.org/",
                           "ftp://a.org/",
                           "file:///etc/passwd",
                           "javascript:1",
                           "http:a.org",
                           "http:/a.org",
                           "http://",
                           "http:///x",
                           "http://user@a.org/",
                           "http://user:pw@a.org/",
                           "http://a.org\\@b.org/",
                           "http://a.org\\b",
                           "http://a.org/\\b",
                           " http://a.org/",
                           "http://a.org/ x",
                           "http://a.org/\tx",
                           "http://a.org/\r\nHost: b",
                           "http://a.org/\xc3\xa9",
                           "http://a.org/\x7f",
                           "gopher://a.org:80/"})
    EXPECT_NE(read_web_address(text).problem, "") << text;
}

TEST(HttpGet, IsACallThatReachesItsOneHostAndSeesNothingElse) {
  Intent intent;
  understand_http_get(read_json(R"({"url": "https://A.org/x#y"})", "").value(), intent);
  ASSERT_TRUE(intent.launch) << intent.problem;
  EXPECT_EQ(intent.hosts, std::vector<std::string>{"a.org:443"});
  EXPECT_EQ(intent.launch->argv, (std::vector<std::string>{"/.cloche/fetch", "https://a.org/x"}));
  EXPECT_EQ(intent.launch->as<Fetch>()->host, "a.org:443");
  EXPECT_EQ(intent.arguments["url"], "https://a.org/x") << "rules see what is asked for";
  EXPECT_EQ(intent.launch->workspace, WorkspaceUse::hidden);
  EXPECT_EQ(intent.timeout_ms, 10'000U);
  Intent local;
  understand_http_get(read_json(R"({"url": "http://localhost:8080/"})", "").value(), local);
  ASSERT_TRUE(local.launch);
  EXPECT_EQ(local.launch->argv.back(), "198.18.0.2") << "libcurl has a localhost of its own";
}

TEST(HttpGet, FollowsFiveRedirectsAndNeverBackFromHttps) {
  EXPECT_TRUE(is_redirect({.status = 302, .location = "http://a.org/"}));
  EXPECT_FALSE(is_redirect({.status = 302})) << "without a place to go it is an answer";
  EXPECT_FALSE(is_redirect({.status = 300, .location = "http://a.org/"}));
  EXPECT_FALSE(is_redirect({.status = 200, .location = "http://a.org/"}));
  const struct {
    const char* from;
    const char* to;
    int followed;
    const char* problem;  // how the sentence ends; empty: it is judged
  } rows[] = {
      {"http://a.org/", "https://a.org/", 0, ""},
      {"http://a.org/", "http://b.org/", 4, ""},
      {"https://a.org/", "https://b.org/", 0, ""},
      {"http://a.org/", "http://b.org/", 5, "is refused: 5 were followed already"},
      {"https://a.org/", "http://a.org/", 0, "is refused: it gives up https"},
      {"http://a.org/", "ftp://a.org/", 0, "is refused: it leads to no http or https address"},
      {"http://a.org/", "http://u@a.org/", 0, "is refused: it leads to no http or https address"},
  };
  for (const auto& row : rows) {
    const std::string way =
        "the redirect from " + std::string(row.from) + " to " + std::string(row.to) + " " + row.problem;
    EXPECT_EQ(problem_of_redirect(row.from, row.to, row.followed).value_or(""), *row.problem == 0 ? "" : way);
  }
}

TEST(HttpGet, ARedirectWithoutAReadableAddressIsRefused) {
  EXPECT_EQ(problem_of_redirect("http://a.org/", std::string(unreadable_location), 0),
            "the redirect from http://a.org/ is refused: its address is too long or holds characters that no "
            "address has");
}

TEST(HttpGet, WhatAModelGets) {
  const std::string euro = "\xe2\x82\xac";
  const struct {
    Fetched fetched;
    const char* text;
    const char* json;
  } rows[] = {
      {{.url = "http://a.org/", .answer = {.status = 200, .type = "text/plain", .body = "hi"}},
       "status: 200\ntype: text/plain\nbody: hi",
       R"({"status":200,"body":"hi","content_type":"text/plain","truncated":false,"utf8":true})"},
      {{.url = "http://a.org/b", .redirects = 1, .answer = {.status = 404}},
       "status: 404\nurl: http://a.org/b\nbody: ",
       R"({"status":404,"body":"","url":"http://a.org/b","truncated":false,"utf8":true})"},
      {{.answer = {.status = 200, .truncated = true, .body = "ab" + euro.substr(0, 2)}},
       "status: 200\nbody: ab\xe2\x82\n[the body is longer than 1M: the rest was not fetched]",
       "{\"status\":200,\"body\":\"ab\xef\xbf\xbd\xef\xbf\xbd\",\"truncated\":true,\"utf8\":true}"},
      {{.answer = {.status = 200, .body = "a\xff"}},
       "status: 200\nbody: a\xff\n[the body is not UTF-8: what is none of it is shown as U+FFFD]",
       "{\"status\":200,\"body\":\"a\xef\xbf\xbd\",\"truncated\":false,\"utf8\":false}"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(show_fetched(row.fetched).text, row.text);
    EXPECT_EQ(fetched_json(row.fetched, {}), row.json);
  }
}

TEST(HttpGet, WhyThereIsNoAnswer) {
  Outcome outcome;
  outcome.end = End::exited;
  EXPECT_EQ(why_not_fetched(outcome, {}), "http_get failed: what fetches gave no answer that can be read");
  const FetchAnswer answer{.problem = "no server answers there"};
  EXPECT_EQ(why_not_fetched(outcome, answer), "http_get failed: no server answers there");
  outcome.network_failures = {"egress: a.org:443 could not be reached: Connection refused"};
  EXPECT_EQ(why_not_fetched(outcome, answer), outcome.network_failures[0]);
  outcome.denials = {{Enforcer::egress, "egress: connect to a.org:443 refused: it resolves to 10.0.0.1"}};
  EXPECT_EQ(why_not_fetched(outcome, answer), outcome.denials[0].what.text());
  Outcome late;
  late.end = End::timeout;
  late.reason = "the timeout limit of 10s was reached";
  EXPECT_EQ(why_not_fetched(late, {}), "http_get failed: the timeout limit of 10s was reached");
}

}  // namespace
}  // namespace cloche
