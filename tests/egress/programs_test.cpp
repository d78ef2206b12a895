// Everyday clients reach the hosts that were named, with no proxy settings, as root and as an ordinary user;
// and what was not named stays unreachable for each of them.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class Programs : public Egress {
 protected:
  // The program reads https://web.cloche.test/hello with `reads`, and with another name it fails.
  void expect_reads(const Words& argv, const Words& more_flags = {}) {
    if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
    Words flags = with_authority();
    flags.insert(flags.end(), more_flags.begin(), more_flags.end());
    const Called read = call({"web.cloche.test"}, argv, flags);
    EXPECT_EQ(read.exit_code, 0) << read;
    EXPECT_EQ(read.out, "hello from there\n") << read;
    EXPECT_TRUE(read.denials.empty()) << read;
    ASSERT_EQ(read.used.count("web.cloche.test:443"), 1U) << read;
    EXPECT_GE(read.use_of("web.cloche.test:443").connections, 1) << read;
    const Called not_named = call({"other.cloche.test"}, argv, flags);
    EXPECT_NE(not_named.exit_code, 0) << not_named;
    EXPECT_TRUE(
        not_named.denied("egress: look-up of web.cloche.test refused: not declared (--net: "
                         "[other.cloche.test])"))
        << not_named;
    EXPECT_TRUE(not_named.used.empty()) << not_named;
  }
};

TEST_P(Programs, Curl) {
  NEEDS("curl");
  expect_reads({"curl", "-sS", "https://web.cloche.test/hello"});
}

TEST_P(Programs, Wget) {
  NEEDS("wget");
  expect_reads({"wget", "-q", "-O", "-", "--ca-certificate=ca.pem", "https://web.cloche.test/hello"});
}

TEST_P(Programs, Python) {
  file("get.py", R"(import sys, urllib.request
sys.stdout.write(urllib.request.urlopen('https://web.cloche.test/hello').read().decode()))");
  expect_reads({"/usr/bin/python3", "get.py"});
}

TEST_P(Programs, Node) {
  NEEDS("node");
  file("get.mjs", "process.stdout.write(await (await fetch('https://web.cloche.test/hello')).text())\n");
  expect_reads({"/usr/bin/node", "get.mjs"});
}

// What is made once, outside, for both identities: the bytes of the file that `script` makes. Empty: it could
// not.
std::string made_by(const std::string& script, const std::string& result, const std::string& source) {
  Scene scene(As::self);
  scene.write("workspace/source.go", source);
  scene.write("workspace/ca.pem", stage().web.authority());
  const Ran made = run({.argv = {"bash", "-c", script},
                        .cwd = scene.workspace(),
                        .env = {{"HOME", scene.root()}, {"GO111MODULE", "off"}},
                        .deadline = std::chrono::seconds(120)});
  EXPECT_TRUE(exited(made, 0));
  return read_file(scene.workspace() / result);
}

constexpr const char* go_source = R"(package main
import ("io"; "net/http"; "os")
func main() {
  got, problem := http.Get("https://web.cloche.test/hello")
  if problem != nil { println(problem.Error()); os.Exit(1) }
  io.Copy(os.Stdout, got.Body)
})";

// With libc's resolver, and with its own.
TEST_P(Programs, Go) {
  NEEDS("go");
  static const std::string program = made_by("go build -o get source.go", "get", go_source);
  file("get", program, 0755);
  expect_reads({"./get"});
  expect_reads({"./get"}, {"-e", "GODEBUG=netdns=go"});
}

TEST_P(Programs, Java) {
  NEEDS("java");
  NEEDS("keytool");
  static const std::string trusted =
      made_by("keytool -importcert -noprompt -alias test -file ca.pem -keystore ca.jks -storepass changeit",
              "ca.jks", "");
  file("ca.jks", trusted);
  file("Get.java", R"(
public class Get {
  public static void main(String[] words) throws Exception {
    var url = new java.net.URL("https://web.cloche.test/hello");
    System.out.write(url.openStream().readAllBytes());
    System.out.flush();
  }
})");
  expect_reads({"java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore=ca.jks",
                "-Djavax.net.ssl.trustStorePassword=changeit", "Get.java"});
}

TEST_P(Programs, GitClonesOverHttps) {
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  const Called called = shell({"web.cloche.test"},
                              "git clone -q https://web.cloche.test/repo.git /tmp/copy && cat /tmp/copy/file",
                              with_authority());
  EXPECT_EQ(called.out, "content of a commit\n") << called;
  EXPECT_TRUE(called.denials.empty()) << called;
}

TEST_P(Programs, PlainHttpAndAnotherPort) {
  NEEDS("curl");
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  const Called plain = call({"web.cloche.test"}, {"curl", "-sS", "http://web.cloche.test/hello"});
  EXPECT_EQ(plain.out, "hello from there\n") << plain;
  EXPECT_EQ(plain.used.count("web.cloche.test:80"), 1U) << plain;
  const Called other =
      call({"web.cloche.test:8443"}, {"curl", "-sS", "https://web.cloche.test:8443/hello"}, with_authority());
  EXPECT_EQ(other.out, "hello from there\n") << other;
  const Called refused =
      call({"web.cloche.test:8443"}, {"curl", "-sS", "-m", "5", "https://web.cloche.test/hello"});
  EXPECT_EQ(refused.exit_code, 7) << "nobody is at that port\n" << refused;
}

TEST_P(Programs, AddressesOfIpv6Alone) {
  NEEDS("curl");
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  const Called called = call({"six.cloche.test"}, {"curl", "-sS", "http://six.cloche.test/hello"});
  EXPECT_EQ(called.out, "hello from there\n") << called;
}

TEST_P(Programs, PlainTcpEchoAndServerThatSpeaksFirst) {
  const std::string head = "tool.cloche.test " + std::to_string(echo_port) + " 3 0 0\n";
  const std::string echo = file("echo.talk", head + "ping!");
  const std::string banner =
      file("banner.talk", "tool6.cloche.test " + std::to_string(banner_port) + " 1 0 0\n");
  const Called called = client({"tool.cloche.test:7000", "tool6.cloche.test:7001"}, {"talk", echo, banner});
  EXPECT_TRUE(contains(called.out, "tool.cloche.test seen p")) << called;
  EXPECT_TRUE(contains(called.out, "tool6.cloche.test seen 220 ready")) << called;
  EXPECT_EQ(called.use_of("tool.cloche.test:7000").bytes_out, 5) << called;
  EXPECT_EQ(called.use_of("tool6.cloche.test:7001").bytes_in, 11) << called;
}

TEST_P(Programs, AnyPublicNameButNothingPrivate) {
  NEEDS("curl");
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  stage().dns.tell("intranet.cloche.test", "10.1.2.3");
  stage().dns.tell("metadata.cloche.test", "169.254.169.254");
  const Called called =
      shell({"net-any"},
            "curl -sS http://web.cloche.test/hello; curl -sS https://other.cloche.test/hello;"
            "for name in intranet.cloche.test metadata.cloche.test one-label 10.1.2.3 [fd00:ec2::254]; "
            "do curl -s http://$name/ && echo REACHED; done; true",
            with_authority());
  EXPECT_EQ(called.out, "hello from there\nhello from there\n") << called;
  EXPECT_TRUE(called.denied(
      "intranet.cloche.test:80 refused: it resolves to 10.1.2.3, which is not a public address"))
      << called;
  EXPECT_TRUE(called.denied("metadata.cloche.test:80 refused: it resolves to 169.254.169.254")) << called;
  EXPECT_TRUE(called.denied("look-up of one-label refused: not declared")) << called;
}

FOR_EVERYONE(Programs);

}  // namespace
}  // namespace cloche::test
