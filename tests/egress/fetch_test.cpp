// http_get over https: the certificate is judged by the system's own store, and redirects like calls.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

constexpr const char* system_store = "/etc/ssl/certs/ca-certificates.crt";

class SecureFetch : public Egress {
 protected:
  void SetUp() override {
    Egress::SetUp();
    if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
    if (!fs::exists(system_store)) GTEST_SKIP() << "skipped: ca-certificates is not installed";
  }

  Json get(const std::string& url, const Words& hosts) {
    Command command;
    command.argv = {built("cloche"), "call",       "http_get", R"({"url":")" + url + R"("})",
                    "--json",        "--autonomy", "full"};
    for (const auto& host : hosts) command.argv.insert(command.argv.end(), {"--net", host});
    command.as = as();
    command.cwd = workspace();
    command.env.emplace("XDG_STATE_HOME", state_home(as()));
    const Ran ran = run(command);
    const auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json ? *json : Json{};
  }
};

TEST_P(SecureFetch, TrustsWhatTheSystemTrusts) {
  const Json strange = get("https://web.cloche.test/hello", {"web.cloche.test"});
  EXPECT_TRUE(contains(strange["result"].string, "the server's certificate is not trusted"))
      << strange["result"].string;
  const PutOver trusted(system_store, read_file(system_store) + stage().web.authority());
  const Json known = get("https://web.cloche.test/hello", {"web.cloche.test"});
  EXPECT_TRUE(contains(known["result"].string, "status: 200")) << known["result"].string;
  EXPECT_TRUE(contains(known["result"].string, "body: hello from there\n")) << known["result"].string;
  ASSERT_EQ(known["network"].array.size(), 1U);
  EXPECT_EQ(known["network"].array[0]["port"].number, 443);
}

TEST_P(SecureFetch, EveryRedirectIsJudged) {
  const PutOver trusted(system_store, read_file(system_store) + stage().web.authority());
  const std::string from = "https://web.cloche.test";
  const Json other = get(from + "/to-other", {"web.cloche.test", "other.cloche.test"});
  EXPECT_TRUE(contains(other["result"].string, "status: 200\nurl: https://other.cloche.test/hello"))
      << other["result"].string;
  const struct {
    const char* path;
    const char* says;
  } refused[] = {
      {"/to-plain", "is refused: it gives up https"},
      {"/to-nowhere",
       "egress: connect to evil.cloche.test:443 refused: not declared (the operator: [web.cloche.test"},
      {"/to-other",
       "egress: connect to other.cloche.test:443 refused: not declared (the operator: [web.cloche.test"},
  };
  for (const auto& row : refused) {
    const Json answer = get(from + row.path, {"web.cloche.test"});
    EXPECT_EQ(answer["outcome"].string, "refused") << row.path;
    EXPECT_TRUE(contains(answer["result"].string, row.says)) << row.path << answer["result"].string;
  }
}

FOR_EVERYONE(SecureFetch);

}  // namespace
}  // namespace cloche::test
