#include "egress/web.hpp"

#include <fstream>
#include <stdexcept>
#include <thread>

#include "everyday/support.hpp"

namespace cloche::test {
namespace {

constexpr const char* make_files = R"(
set -e
key='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
openssl req -x509 $key -keyout ca.key -out ca.pem -days 2 -subj /CN=cloche-test-ca \
  -addext keyUsage=critical,keyCertSign 2>/dev/null
openssl req $key -keyout web.key -out web.csr -subj /CN=web.cloche.test 2>/dev/null
printf 'subjectAltName=DNS:web.cloche.test,DNS:other.cloche.test,DNS:*.web.cloche.test\n' >names
openssl x509 -req -in web.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out web.pem 2>/dev/null
mkdir www
printf 'hello from there\n' >www/hello
head -c 3145728 /dev/zero >www/big
export HOME=$PWD GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a.test GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a.test
git init -q -b main made
printf 'content of a commit\n' >made/file
git -C made add file
git -C made commit -q -m one
git clone -q --bare made www/repo.git
git -C www/repo.git update-server-info
)";

constexpr const char* configuration = R"(
daemon off;
master_process off;
user root;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events { worker_connections 4096; }
http {
  log_format short '$host $request_method $request_uri $status';
  access_log access.log short;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fast; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ssl_certificate web.pem;
  ssl_certificate_key web.key;
  server {
    listen 93.184.216.34:80;
    listen 93.184.216.34:443 ssl;
    listen 93.184.216.34:8443 ssl;
    listen [2606:2800:220:1::34]:80;
    listen [2606:2800:220:1::34]:443 ssl;
    root www;
    location = /to-other { return 302 https://other.cloche.test/hello; }
    location = /to-plain { return 302 http://web.cloche.test/hello; }
    location = /to-nowhere { return 302 https://evil.cloche.test/hello; }
  }
}
)";

}  // namespace

Web::Web(const World& world) {
  if (!installed("nginx") || !installed("openssl")) return;
  char name[] = "/var/tmp/cloche-egress-web-XXXXXX";
  if (mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
  root_ = name;
  const Ran made = run({.argv = {"bash", "-c", make_files}, .cwd = root_});
  if (made.exit_code != 0) throw std::runtime_error("make the web server's files: " + made.err);
  authority_ = read_file(root_ / "ca.pem");
  std::ofstream(root_ / "nginx.conf") << configuration;
  // Relative names in its configuration are below the prefix; www and the certificates too.
  nginx_ = std::make_unique<Started>(Command{.argv = {"nsenter", "--net=" + world.path_there(), "nginx", "-p",
                                                      root_, "-e", "error.log", "-c", root_ / "nginx.conf"},
                                             .cwd = root_});
  for (int i = 0; i < 200 && !reachable(web_address, 443); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (!reachable(web_address, 443))
    throw std::runtime_error("nginx does not answer: " + read_file(root_ / "error.log"));
}

Web::~Web() {
  nginx_.reset();
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

std::string Web::log() const { return read_file(root_ / "access.log"); }

}  // namespace cloche::test
