// Apart from callers_home.cpp: getpwuid_r() loads shared libraries, and the static front has none.
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "store/callers_home.hpp"

namespace cloche {
namespace {

constexpr size_t most_entry_bytes = size_t{1} << 20;

std::string home_in_database(uid_t id) {
  for (std::vector<char> buffer(4096); buffer.size() <= most_entry_bytes; buffer.resize(buffer.size() * 4)) {
    passwd entry{};
    passwd* found = nullptr;
    const int error = ::getpwuid_r(id, &entry, buffer.data(), buffer.size(), &found);
    if (error == ERANGE) continue;
    if (error != 0 || found == nullptr || found->pw_dir == nullptr) return {};
    return plain_home(found->pw_dir);
  }
  return {};
}

}  // namespace

std::string home_of_account() {
  std::string home = home_in_file();
  return home.empty() ? home_in_database(::geteuid()) : home;
}

Environment with_home_from_database(const Environment& environment) {
  if (!environment.account_home().empty() || !asks_for_account(environment)) return environment;
  return environment.with_account_home(home_of_account());
}

}  // namespace cloche
