// A command without a network: a name fails at once and as one that does not exist, and the operator hears
// which names were asked for.
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class NoNetwork : public Run {
 protected:
  static constexpr const char* looks_up = R"(import socket
for name in ['registry.example', 'pypi.example', 'registry.example']:
  try: print(name, socket.getaddrinfo(name, 443))
  except socket.gaierror as problem: print(problem.errno == socket.EAI_NONAME)
)";
  static constexpr const char* said =
      "egress: this call has no network; it looked up registry.example, pypi.example";
};
INSTANTIATE_TEST_SUITE_P(Everyone, NoNetwork, testing::ValuesIn(identities()),
                         [](const auto& given) { return name_of(given.param); });

TEST_P(NoNetwork, ANameDoesNotExistAndTheFlagIsSaid) {
  const Ran ran = cloche_run({}, {"/usr/bin/python3", "-c", looks_up});
  EXPECT_EQ(ran.out, "True\nTrue\nTrue\n") << ran.out << ran.err;
  EXPECT_EQ(ran.err, "cloche: " + std::string(said) +
                         "; --net registry.example --net pypi.example lets it reach these hosts\n");
  const Answer json = answer({}, {"/usr/bin/python3", "-c", looks_up});
  const auto& denials = json.json["denials"].array;
  ASSERT_EQ(denials.size(), 1U) << json.ran.out;
  EXPECT_EQ(denials[0]["by"].string, "egress");
  EXPECT_TRUE(contains(denials[0]["what"].string, said)) << json.ran.out;
}

TEST_P(NoNetwork, TheModelHearsTheNamesAndNoFlag) {
  const Ran ran = run(
      {.argv = {cloche(), "call", "run_python", "-"},
       .as = as(),
       .cwd = workspace(),
       .input =
           R"({"code": "import socket\ntry: socket.getaddrinfo('pypi.example', 443)\nexcept OSError: pass"})"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "[egress: this call has no network; it looked up pypi.example]"))
      << ran.out << ran.err;
  EXPECT_FALSE(contains(ran.out, "--net")) << ran.out << ran.err;
}

// Records of every kind, and bytes that are none: the resolver answers or is silent, and never stops.
TEST_P(NoNetwork, TheResolverTakesWhateverItIsSent) {
  const std::string ask = R"(import socket, struct
def ask(message):
  s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.3); s.connect(('127.0.0.1', 53))
  s.send(message)
  try: return struct.unpack('>H', s.recv(1500)[2:4])[0] & 15
  except OSError: return None
head = struct.pack('>6H', 7, 0x100, 1, 0, 0, 0)
name = b'\x04leak\x07example\x00'
print(ask(b''), ask(b'x'), ask(head), ask(head + name + struct.pack('>2H', 16, 1)), ask(bytes(1400)))
print(ask(head + name + struct.pack('>2H', 1, 1)), ask(head + name + struct.pack('>2H', 28, 1)))
)";
  const Ran ran = cloche_run({}, {"/usr/bin/python3", "-c", ask});
  EXPECT_EQ(ran.out, "None None 1 5 1\n3 3\n") << ran.out << ran.err;
}

// A caller who passes a setting means it.
TEST_P(NoNetwork, ProgramsAreToldNotToTryAgainUnlessTheCallerSaysSo) {
  const std::string show = "echo $npm_config_fetch_retries.$PIP_RETRIES.$CARGO_NET_RETRY";
  EXPECT_EQ(cloche_shell({}, show).out, "0.0.0\n");
  EXPECT_EQ(cloche_shell({"-e", "PIP_RETRIES=4"}, show).out, "0.4.0\n");
  EXPECT_EQ(cloche_shell({"--net", "a.example"}, show).out, "..\n");
}

TEST_P(NoNetwork, AnInstallationThatNeedsOneEndsSoon) {
  const std::vector<std::vector<std::string>> rows = {
      {"npm", "install", "left-pad"}, {"pip3", "install", "--break-system-packages", "left-pad"}};
  int tried = 0;
  for (const auto& argv : rows) {
    if (!installed(argv.front())) continue;
    ++tried;
    const Ran ran = cloche_run({}, argv);
    EXPECT_NE(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.err, "cloche: egress: this call has no network; it looked up "))
        << ran.out << ran.err;
    EXPECT_LT(ran.seconds, 8) << argv.front() << ": with its retries npm takes 70 s";
  }
  if (tried == 0) GTEST_SKIP() << "skipped: neither npm nor pip3 is installed";
}

}  // namespace
}  // namespace cloche::test
