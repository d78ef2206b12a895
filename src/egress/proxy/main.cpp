// cloche-egress: answers for the network of one call. Started by the gateway (egress/gate.hpp) with the
// listeners that were bound inside the call's network namespace; lives in the host's network, where it dials
// what was judged, and has nothing else: no file, no capability, no way to execute anything.
//
// What it reads before it locks itself in is the settings, /etc/hosts, /etc/resolv.conf and the names of the
// interfaces, as bytes; they are understood afterwards.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <span>
#include <string_view>

#include "base/sys/sys.hpp"
#include "egress/proxy/lock_in.hpp"
#include "egress/proxy/routes.hpp"
#include "egress/proxy/server.hpp"
#include "model/network.hpp"

namespace {

using namespace cloche;

bool read_number(std::string_view text, unsigned& number) {
  const char* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc{} && at == end;
}

// `cloche-egress LISTENERS [UID GID]`
bool read_arguments(std::span<char* const> words, unsigned& listeners, egress::NewIds& ids) {
  if (words.size() != 2 && words.size() != 4) return false;
  if (!read_number(words[1], listeners) || listeners < 2 || listeners > most_listeners) return false;
  if (words.size() == 2) return ::geteuid() != 0;
  return read_number(words[2], ids.uid) && read_number(words[3], ids.gid) && ids.uid != 0 && ids.gid != 0;
}

std::string read_or_nothing(const char* path) {
  auto text = sys::read_file(path);
  return text.ok() ? std::move(text).value() : std::string();
}

Result<EgressSettings> read_settings() {
  const OwnedFd fd(egress_settings_fd);
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return system_error("read the egress settings");
  return read_egress_settings(TRY(sys::read_all(fd.get(), size_t{1} << 20)));
}

}  // namespace

int main(int argc, char** argv) {
  unsigned listeners = 0;
  egress::NewIds ids;
  if (!read_arguments({argv, static_cast<size_t>(argc)}, listeners, ids)) {
    constexpr std::string_view message = "cloche-egress is started by cloche; see cloche run --help\n";
    (void)!::write(2, message.data(), message.size());
    return 2;
  }
  ::setsid();  // nothing typed at the caller's terminal reaches it
  ::signal(SIGPIPE, SIG_IGN);
  auto settings = read_settings();
  const std::string hosts = read_or_nothing("/etc/hosts");
  const std::string resolver = read_or_nothing("/etc/resolv.conf");
  const std::string interfaces = read_or_nothing("/proc/net/if_inet6");
  egress::Routes routes;
  if (!settings.ok() || !routes.works() || !egress::lock_in(ids)) return 125;
  std::vector<OwnedFd> open;
  for (unsigned i = 0; i < listeners; ++i) open.emplace_back(egress_first_listener_fd + static_cast<int>(i));
  egress::Server server(settings.value(), egress::read_resolver_files(hosts, resolver, interfaces), routes);
  return server.run(std::move(open)) ? 0 : 125;
}
