// cloche: puts the caller's descriptors and signals in order and calls the front end that the first word
// names.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/lists.hpp"
#include "base/text/near_word.hpp"
#include "base/text/visible_text.hpp"
#include "doors/approve/operator_approver.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/cli/run_command.hpp"
#include "doors/commands.hpp"
#include "doors/hook/agent_environment.hpp"
#include "doors/hook/hook_front.hpp"
#include "store/host/callers_home.hpp"

namespace {

using namespace cloche;

using Words = std::span<char* const>;

// A descriptor that is closed would be given to the next file we open, and the command's output could end up
// in it.
bool was_open(int fd) {
  if (::fcntl(fd, F_GETFD) >= 0) return true;
  (void)::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
  return false;
}

// A core of ours would have the values of secrets in it, and may lie in the directory that we were started
// in, where calls can read. 1 and not 0, as in the sandbox: 0 still feeds a core_pattern that is a pipe.
void leave_no_core() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, 1);
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_CORE, &limit);
}

int open_run(Words words, const Environment& environment, const CallersDescriptors& callers) {
  OperatorApprover asked(environment);
  return run_command(words, environment, callers, asked);
}

// Which front end a command is. What --help says of each is in doors/cli/help_pages.cpp.
struct CommandRow {
  std::string_view name;
  int (*open)(Words words, const Environment& environment);
};
constexpr CommandRow commands[] = {
    {"run", nullptr},  // main() opens it
    {"call", call_command},
    {"explain", explain_command},
    {"tools", tools_command},
    {"mcp", mcp_command},
    {"hook", hook_command},
    {judge_word, hook_command},  // not in the help: only an installed line has it
    {"approve", approve_command},
    {"diff", diff_command},
    {"undo", undo_command},
    {"changes", changes_command},
    {"log", log_command},
    {"profiles", profiles_command},
    {"config", config_command},
    {"test", test_command},
    {"new", new_command},
    {"wrap", wrap_command},
    {"doctor", doctor_command},
};

std::vector<std::string_view> known_words() {
  std::vector<std::string_view> names;
  for (const auto& row : command_helps()) names.push_back(row.name);
  for (const char* flag : {"--version", "--help"}) names.emplace_back(flag);
  return names;
}

int front_end(int argc, char** argv) {
  CallersDescriptors callers;
  callers.input = was_open(0);
  callers.output = was_open(1);
  callers.errors = was_open(2);
  leave_no_core();
  ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an ordinary end of output
  ::signal(SIGXFSZ, SIG_IGN);  // the caller's limit on files is an error of ours to report, not our end
  ::signal(SIGCHLD, SIG_DFL);  // a caller that ignores it would have the kernel forget how a child ended

  const Words words(argv, static_cast<size_t>(argc));
  const std::string_view command = words.size() < 2 ? "" : words[1];
  std::optional<AgentEnvironment> agents;
  if (is_agents_start(words)) environ = agents.emplace(environ, words).block();
  if (command == "hook" && is_hook_judgement(words.subspan(2))) {
    if (callers.output) return hook_front("/proc/self/exe", words, environ);
    complain("stdout is closed: the answer cannot be given, so the call is refused");
    return 2;
  }
  if (command == "run")
    return open_run(words.subspan(2), with_home_from_database(Environment(environ)), callers);
  // Every other command is there to print something. The number is taken by now, so only we can tell.
  if (!callers.output) {
    complain("stdout is closed: there is nowhere to print the result, so nothing is done");
    return 125;
  }
  if (command == "--version" || command == "-V" || command == "version")
    return print_all("cloche " CLOCHE_VERSION "\n", 0);
  const bool asks_for_help = command == "--help" || command == "-h" || command == "help";
  if (command.empty() || (asks_for_help && words.size() == 2)) return print_all(text_of(main_help()), 0);
  // "help run" is "run --help".
  std::string help = "--help";
  char* const flag = help.data();
  const Words only_help(&flag, 1);
  const std::string_view name = asks_for_help ? words[2] : command;
  const CommandRow* found = find_by(commands, &CommandRow::name, name);
  if (found == nullptr) {
    complain("unknown command '" + shown(name, 80) + "'" + did_you_mean(name, known_words()) +
             "; see cloche --help");
    return 2;
  }
  const Environment environment = with_home_from_database(Environment(environ));
  if (!asks_for_help) return found->open(words.subspan(2), environment);
  return found->open == nullptr ? open_run(only_help, environment, callers)
                                : found->open(only_help, environment);
}

// A caller may have left us a stack that is too small for what a call is judged by (ulimit -s): then it is
// done on one of our own, with a page below it that ends us where that is not enough either.
class OwnStack {
 public:
  static constexpr rlim_t enough_bytes = rlim_t{1} << 20;

  static bool is_needed() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < enough_bytes;
  }

  // Nothing: there is no memory for it.
  static std::optional<int> run(int argc, char** argv) {
    constexpr size_t page = 4096;
    void* const memory = ::mmap(nullptr, enough_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || ::mprotect(memory, page, PROT_NONE) != 0) return std::nullopt;
    called_ = {argc, argv, 0};
    ucontext_t own;
    ucontext_t back;
    if (::getcontext(&own) != 0) return std::nullopt;
    own.uc_stack.ss_sp = memory;
    own.uc_stack.ss_size = enough_bytes;
    own.uc_link = &back;
    ::makecontext(
        &own, [] { called_.code = front_end(called_.argc, called_.argv); }, 0);
    if (::swapcontext(&back, &own) != 0) return std::nullopt;
    return called_.code;
  }

 private:
  struct Called {
    int argc;
    char** argv;
    int code;
  };
  static inline Called called_ = {};
};

}  // namespace

int main(int argc, char** argv) {
  if (OwnStack::is_needed()) {
    if (const auto code = OwnStack::run(argc, argv)) return *code;
  }
  return front_end(argc, argv);
}
