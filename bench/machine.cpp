// What the numbers were taken on. No name of the machine: it says nothing about speed.
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <string>

#include "base/sys/sys.hpp"
#include "gateway/checks/own_run.hpp"
#include "sections.hpp"

namespace cloche::bench {
namespace {

// The value of the first line that begins with `key`, of the form "key : value".
std::string value_in(const std::string& file, const std::string& key) {
  const auto text = sys::read_file(file, 4 << 20);
  if (!text.ok()) return "unknown";
  const std::string& all = text.value();
  const size_t line = all.starts_with(key) ? 0 : all.find("\n" + key);
  if (line == std::string::npos) return "unknown";
  const size_t colon = all.find(':', line + 1);
  const size_t begin = all.find_first_not_of(" \t", colon + 1);
  return all.substr(begin, all.find('\n', begin) - begin);
}

std::string memory() {
  const std::string text = value_in("/proc/meminfo", "MemTotal");
  uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return std::to_string((kibibytes + (1 << 19)) >> 20) + " GiB";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
  return text;
}

std::string compiler() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

}  // namespace

Result<void> describe_machine(const Scene& scene, Report& report) {
  RunRequest request;
  request.argv = {"/bin/true"};
  const Ran ran = TRY(run_own(request, Environment(environ), scene.installation()));
  std::string layers;
  for (const auto& layer : ran.outcome.layers) {
    layers += (layers.empty() ? "" : ", ") + std::string(name_of(layer.id)) + " (" + layer.by + ")";
  }
  utsname kernel{};
  ::uname(&kernel);
  report.machine = {
      {"processor", value_in("/proc/cpuinfo", "model name") + ", " +
                        std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " cores"},
      {"memory", memory()},
      {"kernel", kernel.release},
      {"compiler", compiler()},
      {"date", today()},
      {"run by", ::geteuid() == 0 ? "root" : "an ordinary user"},
      {"layers of every call", layers},
  };
  return {};
}

}  // namespace cloche::bench
