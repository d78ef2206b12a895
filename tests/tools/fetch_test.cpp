// http_get and the network of calls: what is declared is reached, by its name and at its port; everything
// else is refused in one sentence. The servers are on the loopback, and no name is looked up anywhere.
#include <algorithm>

#include "tools/fixture.hpp"
#include "tools/web_server.hpp"

namespace cloche::test {
namespace {

class Fetch : public Tools {
 protected:
  static Call get(const std::string& url) { return {"http_get", R"({"url": )" + quoted(url) + "}"}; }
  Call at(const std::string& path) const { return get(server_.url(path)); }

  // The operator gives the server's address, and everything that autonomy would ask about.
  Words declared() const { return {"--net", server_.host(), "--autonomy", "full"}; }
  Words under(const std::string& skill_file) const {
    return {"--skill", skill_file, "--autonomy", "full", "--profile", "workspace-write"};
  }

  WebServer server_;
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_P(Fetch, WhatIsDeclaredIsFetched) {
  server_.answer("/a?b", http_answer("hello\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain"));
  const Answer answer = call(get(server_.url("/a?b#c")), declared());
  EXPECT_TRUE(ended(answer, "exited"));
  EXPECT_EQ(answer.exit_code(), 0);
  EXPECT_EQ(answer.result(), "status: 200\ntype: text/plain\nbody: hello\n");
  EXPECT_EQ(answer.json["structured"]["status"].number, 200);
  EXPECT_EQ(answer.json["structured"]["body"].string, "hello\n");
  EXPECT_EQ(answer.text("backend"), "native");
  ASSERT_EQ(answer.json["network"].array.size(), 1U);
  EXPECT_EQ(answer.json["network"].array[0]["connections"].number, 1);
  EXPECT_EQ(server_.requests(), Words{"GET /a?b HTTP/1.1\r\nHost: " + server_.host() +
                                      "\r\nUser-Agent: cloche-fetch\r\nAccept: */*\r\n\r\n"});
}

TEST_P(Fetch, AnAnswerThatIsNo200IsOne) {
  const Answer answer = call(at("/none"), declared());
  EXPECT_EQ(answer.exit_code(), 0);
  EXPECT_EQ(answer.result(), "status: 404\nbody: nothing here");
}

TEST_P(Fetch, ASkillDeclaresItsHosts) {
  server_.answer("/", http_answer("hi"));
  const Words flags = under(skill("needs_network: ['" + server_.host() + "']"));
  EXPECT_EQ(call(at("/"), flags).result(), "status: 200\nbody: hi");
  EXPECT_TRUE(
      refused_by(call(get("https://evil.example/"), flags), "network",
                 "egress: connect to evil.example:443 refused: not declared (skill test, needs_network: [" +
                     server_.host() + "])"));
}

TEST_P(Fetch, WhatIsNotDeclaredIsRefusedAndSaysWhatWouldChangeIt) {
  const std::string here = server_.host();
  const struct {
    std::string url;
    Words flags;
    std::string says;
  } rows[] = {
      {server_.url("/"), {}, "the sandbox profile has no network; do without the network"},
      {server_.url("/"), {"--net", here, "--profile", "readonly"}, "the sandbox profile has no network"},
      {server_.url("/"), {"--net", here, "--autonomy", "readonly"}, "autonomy readonly has no network"},
      {server_.url("/"),
       {"--net-any", "--autonomy", "full"},
       "not declared (the operator: [any public name])"},
      {"http://127.0.0.1:1/", declared(), "it is an address"},
      {"http://other.example/", declared(),
       "egress: connect to other.example:80 refused: not declared (the operator: ["},
  };
  for (const auto& row : rows) EXPECT_TRUE(refused_by(call(get(row.url), row.flags), "network", row.says));
  EXPECT_TRUE(refused_by(call(at("/"), under(skill("needs_network: true"))), "network",
                         "names no host, and the operator gives none; do without the network"));
  EXPECT_TRUE(refused_by(call(at("/"), under(skill("needs_network: false"))), "network",
                         "not declared (skill test, needs_network: [])"));
  EXPECT_TRUE(server_.requests().empty());
}

TEST_P(Fetch, ASkillWithoutNamesHasWhatTheOperatorGives) {
  server_.answer("/", http_answer("hi"));
  Words flags = under(skill("needs_network: true"));
  flags.insert(flags.end(), {"--net", server_.host()});
  EXPECT_EQ(call(at("/"), flags).result(), "status: 200\nbody: hi");
}

TEST_P(Fetch, AProjectsSkillHasNoMoreThanTheOperatorGives) {
  server_.answer("/", http_answer("hi"));
  const std::string file = project_skill("needs_network: ['" + server_.host() + "', 'evil.example']");
  EXPECT_TRUE(
      refused_by(call(at("/"), under(file)), "network", "not declared (skill test, needs_network: [])"));
  Words flags = under(file);
  flags.insert(flags.end(), {"--net", server_.host()});
  EXPECT_EQ(call(at("/"), flags).result(), "status: 200\nbody: hi");
  EXPECT_TRUE(refused_by(call(get("http://evil.example/"), flags), "network", "not declared"));
}

TEST_P(Fetch, SupervisedAsksBeforeAnythingIsSent) {
  const Answer answer = call(at("/"), {"--net", server_.host()});
  EXPECT_TRUE(refused_by(answer, "approval"));
  EXPECT_TRUE(server_.requests().empty());
  const std::string answered = skill("needs_network: ['" + server_.host() + "']\nallowed-tools: http_get");
  EXPECT_TRUE(ended(call(at("/"), {"--skill", answered, "--profile", "workspace-write"}), "exited"));
}

TEST_P(Fetch, RedirectsAreFollowedWhereTheyLeadToWhatIsDeclared) {
  server_.redirect("/start", "second", 301);
  server_.redirect("/second", server_.url("/end#there"), 307);
  server_.answer("/end", http_answer("arrived"));
  const Answer answer = call(at("/start"), declared());
  EXPECT_EQ(answer.result(), "status: 200\nurl: " + server_.url("/end") + "\nbody: arrived");
  ASSERT_EQ(answer.json["network"].array.size(), 1U);
  EXPECT_EQ(answer.json["network"].array[0]["connections"].number, 3) << "of all hops together";
}

TEST_P(Fetch, RedirectsElsewhereAreRefusedAndNothingIsSent) {
  WebServer other;
  other.answer("/", http_answer("a secret of the host's"));
  const std::string next = other.url("/");
  const struct {
    std::string location;
    std::string says;
  } rows[] = {
      {next, "redirected to " + next + ", refused by network: egress: connect to " + other.host() +
                 " refused: not declared (the operator: [" + server_.host() + "])"},
      {"https://evil.example/x",
       "egress: connect to evil.example:443 refused: not declared (the operator: ["},
      {"//evil.example/x", "egress: connect to evil.example:80 refused: not declared (the operator: ["},
      {"http://169.254.169.254/latest/", "is not the name of a host: it is an address"},
      {"http://[::1]:80/", "is not the name of a host"},
      {"file:///etc/passwd", "is refused: it leads to no http or https address"},
      {"http://user:pw@" + server_.host() + "/", "is refused: it leads to no http or https address"},
  };
  for (const auto& row : rows) {
    server_.redirect("/", row.location);
    const Answer answer = call(at("/"), declared());
    EXPECT_TRUE(ended(answer, "refused")) << row.location;
    EXPECT_EQ(answer.exit_code(), 126);
    EXPECT_TRUE(contains(answer.result(), row.says)) << row.location << "\n" << answer.result();
    EXPECT_FALSE(answer.json["denials"].array.empty());
  }
  EXPECT_TRUE(other.requests().empty());
}

TEST_P(Fetch, FiveRedirectsAreFollowedAndNoSixth) {
  for (int i = 0; i < 6; ++i) server_.redirect("/" + std::to_string(i), "/" + std::to_string(i + 1));
  server_.answer("/6", http_answer("the end"));
  EXPECT_EQ(call(at("/1"), declared()).result(),
            "status: 200\nurl: " + server_.url("/6") + "\nbody: the end");
  const Answer answer = call(at("/0"), declared());
  EXPECT_TRUE(ended(answer, "refused"));
  EXPECT_TRUE(contains(answer.result(), "/6 is refused: 5 were followed already")) << answer.result();
  server_.redirect("/loop", "/loop");
  EXPECT_TRUE(contains(call(at("/loop"), declared()).result(), "5 were followed already"));
}

TEST_P(Fetch, ABodyIsCutAtAMebibyteAndSaysSo) {
  server_.answer("/big", http_answer(std::string(2 << 20, 'x')));
  const Answer answer = call(at("/big"), declared());
  EXPECT_EQ(answer.exit_code(), 0);
  EXPECT_TRUE(
      contains(answer.result(),
               "\n[the body is longer than 1M: the rest was not fetched]\n[the output above was cut; "));
  EXPECT_TRUE(answer.json["structured"]["truncated"].boolean);
  EXPECT_EQ(answer.json["stdout_bytes"].number, 1 << 20);
}

TEST_P(Fetch, ABodyThatIsNoTextSaysSo) {
  server_.answer("/bytes", http_answer("a\xff\x1b[2Jb"));
  const Answer answer = call(at("/bytes"), declared());
  EXPECT_EQ(answer.result(),
            "status: 200\nbody: a\xef\xbf\xbd\xe2\x90\x9b[2Jb\n"
            "[the body is not UTF-8: what is none of it is shown as U+FFFD]");
}

TEST_P(Fetch, WhatIsNoAnswerIsAFailureOfItsOwn) {
  const struct {
    std::string text;
    std::string says;
  } rows[] = {
      {"SSH-2.0-OpenSSH_9.2\r\n", "http_get failed: the answer is not HTTP"},
      {"", "http_get failed: the server answered nothing"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "http_get failed: the answer ends before its end"},
      {"HTTP/1.1 200 OK\r\n" + std::string(400'000, 'a'), "http_get failed: "},
  };
  for (const auto& row : rows) {
    server_.answer("/", row.text);
    const Answer answer = call(at("/"), declared());
    EXPECT_EQ(answer.exit_code(), 1);
    EXPECT_TRUE(contains(answer.result(), row.says)) << answer.result();
  }
  const Answer tls = call(get("https://" + server_.host() + "/"), declared());
  EXPECT_TRUE(contains(tls.result(), "http_get failed: the TLS handshake failed")) << tls.result();
}

TEST_P(Fetch, ASlowServerMeetsTheTimeLimit) {
  server_.answer("/slow", "wait");
  Words flags = declared();
  flags.insert(flags.end(), {"--timeout", "1s"});
  const Answer answer = call(at("/slow"), flags);
  EXPECT_TRUE(ended(answer, "timeout"));
  EXPECT_EQ(answer.exit_code(), 124);
  EXPECT_EQ(answer.result(), "http_get failed: the timeout limit of 1s was reached");
}

// Each of the two is quick enough by itself; what the second is told is the limit of both.
TEST_P(Fetch, ASlowRedirectMeetsTheTimeLimitOfTheWhole) {
  server_.be_slow(7500);
  server_.redirect("/start", "slow");
  server_.answer("/slow", "wait");
  const Answer answer = call(at("/start"), declared());
  EXPECT_TRUE(ended(answer, "timeout"));
  EXPECT_EQ(answer.exit_code(), 124);
  EXPECT_EQ(answer.result(), "http_get failed: its redirects took longer than 10s");
}

TEST_P(Fetch, ARedirectToWhatIsNoAddressIsRefused) {
  for (const std::string& odd :
       {std::string("/a\x01b"), std::string("/a\tb"), "/" + std::string(9000, 'x')}) {
    server_.redirect("/", odd);
    const Answer answer = call(at("/"), declared());
    EXPECT_TRUE(ended(answer, "refused")) << odd;
    EXPECT_TRUE(contains(answer.result(),
                         "is refused: its address is too long or holds characters that no address has"))
        << answer.result();
  }
  EXPECT_EQ(server_.requests().size(), 3U);
}

TEST_P(Fetch, TheLimitsOfASkillTighten) {
  server_.answer("/", http_answer(std::string(900 << 10, 'x')));
  const Words flags = under(skill("needs_network: ['" + server_.host() + "']\nlimits: {net-bytes: 8K}"));
  const Answer answer = call(at("/"), flags);
  EXPECT_TRUE(ended(answer, "refused"));
  EXPECT_TRUE(contains(answer.result(), "too many bytes to and from it")) << answer.result();
}

TEST_P(Fetch, ItSeesNothingOfTheWorkspace) {
  const Ran ran = cloche_words({"explain", "call", "http_get", get(server_.url("/")).arguments, "--net",
                                server_.host(), "--rw", workspace(), "--json"});
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["decision"].string, "ask");
  ASSERT_EQ((*json)["plan"]["hosts"].array.size(), 1U);
  EXPECT_EQ((*json)["plan"]["hosts"].array[0].string, server_.host());
  EXPECT_FALSE(contains(ran.out, workspace().string()));
  EXPECT_TRUE(server_.requests().empty());
}

TEST_P(Fetch, EveryHopIsInTheRecord) {
  server_.redirect("/start", "/end");
  server_.answer("/end", http_answer("arrived"));
  Words flags = declared();
  flags.insert(flags.end(), {"--run", (scene_root() / "run").string()});
  const Answer answer = call(at("/start"), flags);
  ASSERT_EQ(answer.exit_code(), 0) << answer.result();
  EXPECT_TRUE(verified((scene_root() / "run").string()));
  const auto lines = json_lines(scene_root() / "run/artifacts/tool_calls/main.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["args"]["url"].string, server_.url("/end")) << "it ended before the call it belongs to";
  EXPECT_EQ(lines[0]["notes"].array.back().string, "redirect 1 of call " + answer.text("call_id"));
  EXPECT_EQ(lines[0]["result"].string, "status: 200");
  EXPECT_EQ(lines[1]["call_id"].string, answer.text("call_id"));
  EXPECT_EQ(lines[1]["network"].array.at(0)["connections"].number, 2);
  EXPECT_EQ(lines[1]["network"].array.at(0)["host"].string, "localhost");
  EXPECT_EQ(lines[1]["plan_digest"].string, answer.text("plan_digest"));
}

TEST_P(Fetch, ACommandReachesWhatIsDeclaredAndIsToldOnceWhatIsNot) {
  server_.answer("/", http_answer("hi"));
  const std::string python =
      "import urllib.request, sys\n"
      "print(urllib.request.urlopen('" +
      server_.url("/") +
      "').read())\n"
      "for i in range(3):\n"
      "  try: urllib.request.urlopen('http://evil.example/')\n"
      "  except OSError as e: print(type(e).__name__)\n";
  const Answer answer = call({"run_script", script(python, "python3")}, declared());
  EXPECT_TRUE(contains(answer.result(), "b'hi'")) << answer.result();
  const std::string denial =
      "[egress: look-up of evil.example refused: not declared (the operator: [" + server_.host() + "])]";
  EXPECT_EQ(count_of(answer.result(), denial), 1U) << answer.result();
  EXPECT_TRUE(contains(answer.result(), "[trying again changes nothing: ")) << answer.result();
  EXPECT_EQ(answer.json["structured"]["denials"].array.size(), 1U);
}

TEST_P(Fetch, ARungWithoutANetworkOfItsOwnRefuses) {
  Words flags = declared();
  flags.insert(flags.end(), {"--isolation", "subprocess"});
  const Answer answer = call(at("/"), flags);
  EXPECT_NE(answer.exit_code(), 0);
  EXPECT_TRUE(contains(answer.result(), "without a network namespace of its own")) << answer.result();
  EXPECT_TRUE(server_.requests().empty());
}

FOR_EVERYONE(Fetch);

}  // namespace
}  // namespace cloche::test
