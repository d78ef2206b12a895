#include "everyday/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace cloche::test {
namespace {

constexpr size_t most_shown = 4000;

std::string shown(const std::string& text) {
  if (text.size() <= most_shown) return text;
  return text.substr(0, most_shown) + "... (" + std::to_string(text.size()) + " bytes)";
}

::testing::AssertionResult failure(const Ran& ran) {
  auto answer = ::testing::AssertionFailure();
  if (ran.timed_out) {
    answer << "still running after " << ran.seconds << " s";
  } else if (ran.signal != 0) {
    answer << "ended by signal " << ran.signal;
  } else {
    answer << "exit code " << ran.exit_code;
  }
  return answer << "\nstdout: " << shown(ran.out) << "\nstderr: " << shown(ran.err) << "\n";
}

}  // namespace

bool installed(const std::string& program) {
  const char* folders[] = {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/",
                           "/usr/bin/",        "/sbin/",          "/bin/"};
  return std::any_of(std::begin(folders), std::end(folders),
                     [&](const char* folder) { return access((folder + program).c_str(), X_OK) == 0; });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const auto start = before == std::string::npos ? 0 : before + 1;
  return text.substr(start, end - start + 1);
}

::testing::AssertionResult exited(const Ran& ran, int code) {
  if (!ran.timed_out && ran.signal == 0 && ran.exit_code == code) return ::testing::AssertionSuccess();
  return failure(ran) << "expected exit code " << code;
}

::testing::AssertionResult printed(const Ran& ran, const std::string& text) {
  if (!exited(ran, 0)) return exited(ran, 0);
  if (ran.out == text) return ::testing::AssertionSuccess();
  return failure(ran) << "expected on stdout: " << shown(text);
}

::testing::AssertionResult refused(const Ran& ran, const std::vector<int>& codes,
                                   const std::vector<std::string>& words) {
  if (std::find(codes.begin(), codes.end(), ran.exit_code) == codes.end()) {
    return failure(ran) << "expected a refusal";
  }
  if (ran.err.empty()) return failure(ran) << "expected a sentence on stderr";
  for (const auto& word : words) {
    if (!contains(ran.err, word)) return failure(ran) << "expected on stderr: " << word;
  }
  return ::testing::AssertionSuccess();
}

bool bare() { return getenv("EVERYDAY_BARE") != nullptr; }

bool Everyday::is_root() const { return as() == As::self && geteuid() == 0; }

std::string Everyday::file(const std::string& name, const std::string& text, unsigned mode) {
  return scene_.write(fs::path("workspace") / name, text, mode);
}

Command Everyday::command(const std::vector<std::string>& argv, Command how) const {
  how.argv = bare() ? argv : under_cloche({}, argv);
  how.as = as();
  if (how.cwd.empty()) how.cwd = workspace();
  how.env.emplace("XDG_STATE_HOME", state_home(as()));
  // Inside, HOME is private and writable; without Cloche the scene stands in for it.
  if (bare() && how.env.count("HOME") == 0) how.env["HOME"] = scene_.root();
  return how;
}

Ran Everyday::inside(const std::vector<std::string>& argv, const Command& how) const {
  Ran ran = run(command(argv, how));
  if (bare() && ran.signal != 0) ran.exit_code = 128 + std::exchange(ran.signal, 0);
  return ran;
}

Ran Everyday::bash(const std::string& script, const Command& how) const {
  return inside({"bash", "-c", script}, how);
}

Ran Everyday::python(const std::string& script, const Command& how) {
  return inside({"/usr/bin/python3", file("everyday_script.py", script)}, how);
}

Ran Everyday::outside(const std::string& script) const {
  return run(
      {.argv = {"bash", "-c", script}, .as = as(), .cwd = workspace(), .env = {{"HOME", scene_.root()}}});
}

}  // namespace cloche::test
