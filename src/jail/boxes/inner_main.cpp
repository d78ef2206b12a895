#include "jail/boxes/inner_main.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/boxes/command_within.hpp"
#include "jail/boxes/percent_decode.hpp"
#include "jail/boxes/process_count.hpp"
#include "jail/boxes/warden_lock.hpp"
#include "jail/boxes/warden_object.hpp"
#include "jail/core/command.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/keyring.hpp"
#include "jail/core/lock.hpp"
#include "jail/core/plan_transfer.hpp"
#include "jail/core/report.hpp"
#include "jail/core/wire.hpp"

namespace cloche::jail {
namespace {

using wire::Step;

constinit wire::Storage storage{};

const char* given_away = nullptr;     // by --give-away
uint64_t others_seen = 0;             // by --others: of the same user, counted along; 0: there are none
constexpr uid_t overflow_id = 65534;  // of no user of the box

struct Named {
  const char* name;
  uint32_t value;
};

constexpr Named limits[] = {
    {"core", RLIMIT_CORE},     {"cpu", RLIMIT_CPU},           {"fsize", RLIMIT_FSIZE},
    {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC},       {"memlock", RLIMIT_MEMLOCK},
    {"rtprio", RLIMIT_RTPRIO}, {"msgqueue", RLIMIT_MSGQUEUE}, {"sigpending", RLIMIT_SIGPENDING},
    {"nice", RLIMIT_NICE},
};
constexpr Named accesses[] = {
    {"list", static_cast<uint32_t>(wire::Access::list)},
    {"read", static_cast<uint32_t>(wire::Access::read)},
    {"run", static_cast<uint32_t>(wire::Access::run)},
    {"write", static_cast<uint32_t>(wire::Access::write)},
    {"device", static_cast<uint32_t>(wire::Access::device)},
    {"write_run", static_cast<uint32_t>(wire::Access::write_run)},
    {"looked_at", static_cast<uint32_t>(wire::Access::looked_at)},
};

// The words of the command line, one after the other; whatever is wrong with one ends the process.
class Reader {
 public:
  // Behind the name of the program and "--inner".
  explicit Reader(wire::Words words) : at_(words.data() + 2), end_(words.data() + words.size()) {}

  bool next_is(const char* flag) {
    if (at_ == end_ || std::strcmp(*at_, flag) != 0) return false;
    ++at_;
    return true;
  }
  const char* word() {
    if (at_ == end_) wrong();
    return *at_++;
  }
  uint64_t number(unsigned base = 10) { return number_of(word(), base); }
  // "NAME<separator>REST": the value of the name; `rest` begins behind the separator.
  template <size_t N>
  uint32_t named(const Named (&table)[N], char separator, const char*& rest) {
    const char* text = word();
    for (const Named& row : table) {
      const size_t length = std::strlen(row.name);
      if (std::strncmp(text, row.name, length) != 0 || text[length] != separator) continue;
      rest = text + length + 1;
      return row.value;
    }
    wrong();
  }
  static uint64_t number_of(const char* text, unsigned base = 10) {
    if (*text == '\0') wrong();
    uint64_t value = 0;
    for (; *text != '\0'; ++text) {
      const auto digit = static_cast<unsigned>(*text - '0');
      if (digit >= base || value > (~uint64_t{0} - digit) / base) wrong();
      value = value * base + digit;
    }
    return value;
  }
  bool at_end() const { return at_ == end_; }
  wire::Words rest() { return {at_, static_cast<size_t>(end_ - at_)}; }

  [[noreturn]] static void wrong() { fail(Step::read_plan, EINVAL); }

 private:
  const char** at_;
  const char** end_;
};

template <typename T, size_t N>
T& one_more(std::array<T, N>& room, std::span<T>& used, size_t most) {
  if (used.size() == most) fail(Step::read_plan, E2BIG);
  used = std::span<T>(room.data(), used.size() + 1);
  return used.back();
}

void read_rule(Reader& in, wire::Plan& plan) {
  wire::Rule& rule = one_more(storage.rules, plan.rules, wire::max_rules);
  rule.access = static_cast<wire::Access>(in.named(accesses, ':', rule.path));
  if (rule.path[0] != '/') Reader::wrong();
}

struct Pair {
  uint64_t first;
  uint64_t second;
};

// "FIRST:SECOND"
Pair read_pair(Reader& in) {
  char first[24] = {};
  const char* word = in.word();
  const char* colon = std::strchr(word, ':');
  if (colon == nullptr || static_cast<size_t>(colon - word) >= sizeof first) Reader::wrong();
  std::memcpy(first, word, static_cast<size_t>(colon - word));
  return {Reader::number_of(first), Reader::number_of(colon + 1)};
}

// "DEVICE:INODE"
wire::Identity read_identity(Reader& in) {
  const Pair pair = read_pair(in);
  return {pair.first, pair.second};
}

void read_limit(Reader& in, wire::Plan& plan) {
  wire::Limit& limit = one_more(storage.limits, plan.limits, wire::max_limits);
  const char* value = "";
  limit.resource = in.named(limits, '=', value);
  limit.value = Reader::number_of(value);
}

// "UID:GID"
void read_ids(Reader& in, wire::Plan& plan) {
  const Pair ids = read_pair(in);
  plan.inside_uid = static_cast<uint32_t>(ids.first);
  plan.inside_gid = static_cast<uint32_t>(ids.second);
  if (plan.inside_uid == 0 || plan.inside_gid == 0) Reader::wrong();
}

void read_control(Reader& in) {
  const auto fd = static_cast<int>(in.number());
  // Its number is known to report(); whatever else had that number is not needed here.
  if (fd != wire::control_fd && ::dup2(fd, wire::control_fd) < 0) fail(Step::read_plan, errno);
  report_by(ReportWay::socket);
}

// A box without a way to pass a socket into it: the reports are left in a file that its keeper reads.
void read_report(Reader& in) {
  const int fd = ::open(in.word(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (fd < 0 || ::dup2(fd, wire::control_fd) < 0) fail(Step::read_plan, errno);
  uint64_t seal = 0;
  if (::read(fd, &seal, sizeof seal) != static_cast<ssize_t>(sizeof seal)) fail(Step::read_plan, EBADMSG);
  must(static_cast<int>(::syscall(SYS_ftruncate, fd, 0)),
       Step::read_plan);  // before another process is there to read it
  seal_with(seal);
  report_by(ReportWay::file);
}

// Flags in any order but the way of speaking, which is first, so that whatever is wrong can be told.
wire::Plan read_plan_of(wire::Words words) {
  report_by(ReportWay::text);
  Reader in(words);
  wire::Plan plan;
  (void)in.next_is("--escaped");  // and they are what they mean by now
  if (in.next_is("--control")) {
    read_control(in);
  } else if (in.next_is("--report")) {
    read_report(in);
  }
  bool landlock_said = false;
  while (!in.next_is("--")) {
    if (in.next_is("--umask")) {
      plan.umask = static_cast<uint32_t>(in.number(8) & 0777);
    } else if (in.next_is("--directory")) {
      plan.directory = in.word();
    } else if (in.next_is("--judged-directory")) {
      plan.judged_directory = read_identity(in);
    } else if (in.next_is("--limit")) {
      read_limit(in, plan);
    } else if (in.next_is("--landlock")) {
      plan.landlock_abi = static_cast<uint32_t>(in.number());
      landlock_said = true;
    } else if (in.next_is("--allow")) {
      read_rule(in, plan);
    } else if (in.next_is("--judged")) {  // of the rule before it
      if (plan.rules.empty()) Reader::wrong();
      plan.rules.back().judged = read_identity(in);
    } else if (in.next_is("--program")) {
      one_more(storage.programs, plan.programs, wire::max_programs) = in.word();
    } else if (in.next_is("--debugging")) {
      plan.flags |= wire::debugging;
    } else if (in.next_is("--plain-directory")) {
      plan.flags |= wire::plain_directory;
    } else if (in.next_is("--watched")) {
      plan.flags |= wire::watched_memory;
    } else if (in.next_is("--alone")) {
      plan.flags |= wire::alone;
    } else if (in.next_is("--host-network")) {
      plan.flags |= wire::host_network;
    } else if (in.next_is("--terminal")) {
      plan.flags |= wire::terminal;
    } else if (in.next_is("--open")) {
      plan.flags |= wire::open;
    } else if (in.next_is("--others")) {
      others_seen = in.number();
    } else if (in.next_is("--give-away")) {
      given_away = in.word();
    } else if (in.next_is("--become")) {
      read_ids(in, plan);
    } else {
      Reader::wrong();
    }
  }
  plan.argv = in.rest();
  // Whether files are restricted is never left unsaid, and rules mean that they are.
  if (plan.has(wire::alone) && plan.has(wire::open)) Reader::wrong();
  if (plan.argv.empty() || !landlock_said || (plan.landlock_abi == 0 && !plan.rules.empty())) Reader::wrong();
  if (plan.has(wire::terminal) && report_way() != ReportWay::socket)
    Reader::wrong();  // no process could hold it
  if (plan.programs.empty()) one_more(storage.programs, plan.programs, 1) = plan.argv.front();
  return plan;
}

// Every word behind --escaped, and the environment.
void unescape_all(char** argv, int argc) {
  if (argc < 3 || std::strcmp(argv[2], "--escaped") != 0) return;
  for (char** word = argv + 3; word != argv + argc; ++word) {
    if (!unescape(*word)) Reader::wrong();
  }
  for (char** line = argv + argc + 1; *line != nullptr; ++line) {
    if (!unescape(*line)) Reader::wrong();
  }
}

wire::Words environment_of(char** argv, int argc) {
  char** first = argv + argc + 1;
  size_t count = 0;
  while (first[count] != nullptr) ++count;
  return {const_cast<const char**>(first), count};
}

// A runtime that an ordinary user started can give the id 0 alone. One more user namespace makes it the
// plan's own; the capabilities that come with it are given up below like any other.
void become(wire::Plan& plan) {
  plan.outside_uid = ::geteuid();
  plan.outside_gid = ::getegid();
  if (plan.outside_uid == plan.inside_uid && plan.outside_gid == plan.inside_gid) return;
  must(static_cast<int>(::syscall(SYS_unshare, CLONE_NEWUSER)), Step::namespaces);
  map_ids(plan, "self");
  must(::setresgid(plan.inside_gid, plan.inside_gid, plan.inside_gid), Step::become_ids);
  must(::setresuid(plan.inside_uid, plan.inside_uid, plan.inside_uid), Step::become_ids);
}

// Of the box's own instance, or of the host's where there is no box.
int make_terminal_within(const wire::Plan& plan) {
  const int slave = make_terminal(plan, "/dev/ptmx");
  wait_for_size();
  return slave;
}

bool can_start_under(uint64_t most, rlimit own) {
  own.rlim_cur = most < own.rlim_max ? most : own.rlim_max;
  if (::setrlimit(RLIMIT_NPROC, &own) != 0) return false;
  const pid_t child = ::vfork();
  if (child == 0) ::_exit(0);
  return child > 0 && ::waitpid(child, nullptr, 0) == child;
}

// Before there is a limit, and before anything is forbidden.
void count_others(wire::Plan& plan) {
  rlimit own{};
  if (others_seen == 0 || ::getrlimit(RLIMIT_NPROC, &own) != 0) return;
  const uint64_t unseen =
      counted_beyond(others_seen, [&](uint64_t most) { return can_start_under(most, own); });
  (void)::setrlimit(RLIMIT_NPROC, &own);
  // We are counted among them, so the place that every limit has for us is one too many.
  for (wire::Limit& limit : plan.limits) {
    if (limit.resource == RLIMIT_NPROC) limit.value += unseen - 1;
  }
}

// The process that started us with a way to speak is the keeper, and has one for this call already: a second
// would only halve how many commands a user's quota lets run at once.
void take_keyring() {
  const int why = join_keyring();
  // One that is forbidden to us is forbidden to the command.
  if (why != 0 && why != ENOSYS && why != EPERM && why != EACCES) fail(Step::session_keyring, why);
}

// What is taken away from this process and, with it, from the command.
void lock(const wire::Plan& plan, int terminal) {
  give_up_capabilities();
  must(::prctl(PR_SET_DUMPABLE, 0), Step::no_new_privileges);
  forbid_new_privileges();
  if (plan.landlock_abi != 0) restrict_files(plan, terminal, plan.has(wire::alone) ? hold_tree : nullptr);
}

}  // namespace

bool is_inner(int argc, char** argv) { return argc >= 2 && std::strcmp(argv[1], "--inner") == 0; }

void run_inner(int argc, char** argv) {
  report_by(ReportWay::text);  // until it is said otherwise
  unescape_all(argv, argc);
  run_inner({const_cast<const char**>(argv), static_cast<size_t>(argc)}, environment_of(argv, argc));
}

void run_inner(wire::Words words, wire::Words environment) {
  const pid_t parent = kernel::getppid();
  wire::Plan plan = read_plan_of(words);
  plan.env = environment;
  const bool spoken = report_way() != ReportWay::text;
  // Whatever the box left open, a directory of the host's above all, ends here.
  kernel::close_range(3, wire::control_fd - 1);
  kernel::close_range(wire::control_fd + (spoken ? 1 : 0), ~0U);
  if (spoken && ::fcntl(wire::control_fd, F_SETFD, FD_CLOEXEC) != 0) fail(Step::read_plan, errno);
  if (!spoken) take_keyring();
  offer_to_oom_killer();
  // While the right to it is ours.
  if (given_away != nullptr)
    must(static_cast<int>(::syscall(SYS_fchownat, AT_FDCWD, given_away, overflow_id, overflow_id, 0)),
         Step::seal_root);
  if (plan.inside_uid != 0) become(plan);
  const int root = must(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), Step::seal_root);
  enter_directory(plan);
  ::umask(plan.umask);
  const int terminal = plan.has(wire::terminal) ? make_terminal_within(plan) : -1;
  count_others(plan);
  set_limits(plan, plan.has(wire::alone) ? commands_own_limit : no_resource);
  const bool locked = !plan.has(wire::open);  // open: the operator wants nothing to hold
  if (locked) lock(plan, terminal);
  // Process 1 of a box is the parent of all already.
  if (kernel::getpid() != 1) must(::prctl(PR_SET_CHILD_SUBREAPER, 1), Step::parent_death);
  must(::prctl(PR_SET_PDEATHSIG, parent_died), Step::parent_death);
  if (kernel::getppid() != parent) fail(Step::parent_death, ESRCH);  // before it could be told
  prepare_signals();
  const int signals = open_signals();
  if (locked && !plan.has(wire::alone)) filter_calls(plan);  // else it is for the command, not for its warden
  run_command_within(plan, terminal, root, signals, parent);
}

}  // namespace cloche::jail
