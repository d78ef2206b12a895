// Feeds text to the readers of host names and declarations. A name that is read must be one in its one
// spelling, whatever it was written as, and a declaration must cover itself and nothing above it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text/ascii.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

bool is_label_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

void check_name(const cloche::HostName& name) {
  using namespace cloche;
  const std::string_view text = name.text();
  require(!text.empty() && text.size() <= HostName::max_length && ascii::all(text, is_label_character));
  require(text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos);
  const ReadName again = HostName::read(text);
  require(again && *again.name == name && !name.is_below(name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadName name = HostName::read(text);
  require(name.problem.empty() == name.name.has_value());
  if (name) check_name(*name.name);

  const ReadHost host = read_declared_host(text);
  require(host.problem.empty() == host.host.has_value());
  if (host) {
    check_name(host.host->name);
    require(covers(*host.host, *host.host));
    require(!host.host->ports.list().empty() && !host.host->ports.contain(0));
    require(covers(*host.host, host.host->name) == (host.host->kind == DeclaredHost::Kind::name));
  }
  return 0;
}
