// `localhost` inside is both: the command's own servers, and at a declared port the host's service, for every
// program, whether it looks the name up or takes 127.0.0.1 or ::1 for it.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

// Pages and a git repository on the host's loopback, at a port that was free.
class HostPages {
 public:
  HostPages() : scene_(As::self) {
    scene_.write("pages/hello", "hello from the host\n");
    const Ran made = run({.argv = {"bash", "-c", git_script},
                          .cwd = scene_.root() / "pages",
                          .env = {{"HOME", scene_.root()}}});
    EXPECT_TRUE(exited(made, 0));
    server_ = std::make_unique<Started>(
        Command{.argv = {"/usr/bin/python3", "-c", server_script}, .cwd = scene_.root() / "pages"});
    char text[16] = {};
    EXPECT_GT(::read(server_->output(), text, sizeof text - 1), 0);
    port_ = std::to_string(std::atoi(text));
  }
  ~HostPages() {
    ::kill(server_->pid(), SIGKILL);
    server_->finish();
  }
  const std::string& port() const { return port_; }

 private:
  static constexpr const char* git_script = R"(set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a.test GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a.test
git init -q -b main ../made
git -C ../made commit -q --allow-empty -m one
git clone -q --bare ../made repo.git
git -C repo.git update-server-info)";
  static constexpr const char* server_script = R"(import http.server
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever())";

  Scene scene_;
  std::unique_ptr<Started> server_;
  std::string port_;
};

class Localhost : public Egress {
 protected:
  void expect_reads(const HostPages& pages, const Words& argv) {
    const Called called = call({"localhost:" + pages.port()}, argv);
    EXPECT_EQ(called.out, "hello from the host\n") << argv[0] << called;
    EXPECT_TRUE(called.denials.empty()) << argv[0] << called;
    EXPECT_EQ(called.use_of("localhost:" + pages.port()).connections, 1) << argv[0] << called;
  }
};

TEST_P(Localhost, EveryClientReachesTheHostsServiceByThatName) {
  const HostPages pages;
  const std::string url = "http://localhost:" + pages.port() + "/hello";
  expect_reads(pages,
               {"/usr/bin/python3", "-c",
                "import urllib.request as u; print(u.urlopen('" + url + "').read().decode(), end='')"});
  if (installed("curl")) {
    expect_reads(pages, {"curl", "-sS", url});
    expect_reads(pages, {"curl", "-sS", "http://[::1]:" + pages.port() + "/hello"});
    expect_reads(pages, {"curl", "-sS", "http://host.cloche:" + pages.port() + "/hello"});
  }
  if (installed("wget")) expect_reads(pages, {"wget", "-q", "-O", "-", url});
  if (installed("node")) {
    file("get.mjs", "process.stdout.write(await (await fetch('" + url + "')).text())\n");
    expect_reads(pages, {"/usr/bin/node", "get.mjs"});
  }
  const Called git = call({"localhost:" + pages.port()},
                          {"git", "ls-remote", "http://localhost:" + pages.port() + "/repo.git", "main"});
  EXPECT_TRUE(contains(git.out, "refs/heads/main")) << git;
}

TEST_P(Localhost, PlainConnectionsToTheNameAndTheNumbersAreTheHosts) {
  const Listening listening = listen_on_loopback();
  TcpServer server(listening.fd, Manner::banner);
  const std::string port = std::to_string(listening.port);
  Words words = {"talk"};
  std::string seen;
  for (const char* name : {"localhost", "127.0.0.1", "::1", "host.cloche"}) {
    words.push_back(file("to-" + std::string(name), std::string(name) + " " + port + " 9 0 0\n"));
    seen += std::string(name) + " seen 220 ready\r\n\n";
  }
  const Called called = client({"localhost:" + port}, words);
  EXPECT_EQ(called.out, seen) << called;
  EXPECT_EQ(called.use_of("localhost:" + port).connections, 4) << called;
  EXPECT_EQ(server.accepted(), 4U);
  const Called taken = client({"localhost:" + port}, {"listen", port});
  EXPECT_EQ(taken.out, "EADDRINUSE\n") << "as on the host, where the service has it\n" << taken;
}

// Whichever of the two the server is bound to, and whichever the client says.
constexpr const char* own_servers = R"(import http.server, threading, urllib.request
class Page(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    self.send_response(200); self.end_headers(); self.wfile.write(b'own')
  def log_message(self, *words): pass
for place in ('127.0.0.1', 'localhost', ''):
  server = http.server.ThreadingHTTPServer((place, 0), Page)
  threading.Thread(target=server.serve_forever, daemon=True).start()
  for name in ('127.0.0.1', 'localhost'):
    print(urllib.request.urlopen(f'http://{name}:{server.server_port}/').read().decode())
)";

TEST_P(Localhost, OwnServersAreReachedByNameAndByNumber) {
  file("own.py", own_servers);
  const HostPages pages;
  for (const Words& hosts :
       {Words{}, Words{"localhost:" + pages.port()}, Words{"web.cloche.test", "localhost:" + pages.port()}}) {
    const Called called = call(hosts, {"/usr/bin/python3", "own.py"});
    EXPECT_EQ(called.out, "own\nown\nown\nown\nown\nown\n") << called;
    EXPECT_TRUE(called.denials.empty()) << called;
    EXPECT_TRUE(called.used.empty()) << called;
  }
}

// Port 80 is taken at every address for web.cloche.test: that gives nobody the host's own port 80.
TEST_P(Localhost, OtherPortsOfTheHostStayOutOfReach) {
  const Listening declared = listen_on_loopback();
  const Listening other = listen_on_loopback();
  TcpServer first(declared.fd, Manner::banner);
  TcpServer second(other.fd, Manner::banner);
  const std::string port = std::to_string(other.port);
  std::string script;
  for (const char* address : {"127.0.0.1", "::1", "198.18.0.2", "127.0.0.2"})
    script += client_program() + " connect " + address + " " + port + "; ";
  const Called called = shell({"web.cloche.test", "localhost:" + std::to_string(declared.port)}, script);
  EXPECT_EQ(called.out, "ECONNREFUSED\nECONNREFUSED\nECONNREFUSED\nECONNREFUSED\n") << called;
  const Called below = shell({"*.cloche.test:" + port, "localhost:" + std::to_string(declared.port)}, script);
  EXPECT_TRUE(below.used.empty()) << below;
  EXPECT_EQ(first.accepted() + second.accepted(), 0U);
}

FOR_EVERYONE(Localhost);

}  // namespace
}  // namespace cloche::test
