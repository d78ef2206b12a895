// One policy, whichever box keeps it: the same programs give the same answers at every isolation level, as
// root and as an ordinary user. The controls show that each forbidden thing works without Cloche.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <ostream>
#include <thread>

#include "ladder/programs.hpp"
#include "ladder/rungs.hpp"
#include "run/fixture.hpp"

namespace cloche::test {

void PrintTo(const Answer& answer, std::ostream* out) {
  *out << "exit " << answer.exit_code << ", \"" << answer.out << "\"";
}

namespace {

// Somebody on the host's loopback; the kernel answers for us.
class Listener {
 public:
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, any, size) == 0 && listen(fd_, 64) == 0 && getsockname(fd_, any, &size) == 0)
      port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(fd_); }
  int port() const { return port_; }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

Answer answer_of(const Ran& ran) { return {ran.signal != 0 ? 128 + ran.signal : ran.exit_code, ran.out}; }

// With a descriptor of the caller's that is not closed on exec.
std::vector<std::string> with_descriptor_7(const std::vector<std::string>& argv) {
  std::vector<std::string> all = {"bash", "-c", "exec 7</dev/null; exec \"$@\"", "-"};
  all.insert(all.end(), argv.begin(), argv.end());
  return all;
}

class Conformance : public Rungs {
 protected:
  void SetUp() override {
    Rungs::SetUp();
    if (IsSkipped()) return;
    scene().write("workspace/given.txt", "given\n");
    scene().write("granted/text", "granted\n");
    scene().write("beside.txt", "secret\n");
    elsewhere_.write("home/notes.txt", "secret\n");
    if (const fs::path state = fs::path(state_home(as())) / "cloche" / "notes.txt"; !fs::exists(state)) {
      const Ran made =
          run({.argv = {"bash", "-c", "mkdir -p \"${0%/*}\" && echo secret > \"$0\"", state}, .as = as()});
      ASSERT_TRUE(exited(made, 0));
    }
    victim_ = std::make_unique<Started>(Command{.argv = {"sleep", "600"}, .as = as()});
  }

  std::map<std::string, std::string> places() const {
    return {{"BESIDE", scene_root() / "beside.txt"},
            {"GRANT", scene_root() / "granted"},
            {"OTHER", elsewhere_.root() / "home/notes.txt"},
            {"STATE", state_home(as()) + "/cloche/notes.txt"},
            {"PORT", std::to_string(listener_.port())},
            {"VICTIM", std::to_string(victim_->pid())},
            {"MARKER", marker_}};
  }

  std::vector<std::string> argv_of(const Program& program) const {
    return program.argv.empty() ? std::vector<std::string>{"bash", "-c", program.script} : program.argv;
  }

  Ran under_cloche_as_told(const Program& program) const {
    std::vector<std::string> flags = {"--ro", scene_root() / "granted"};
    flags.insert(flags.end(), program.flags.begin(), program.flags.end());
    for (const auto& [name, value] : places()) flags.insert(flags.end(), {"-e", name + "=" + value});
    Command command =
        on_rung(flags, argv_of(program), {.env = {{"CALLERS_TOKEN", "hush"}}, .input = program.input});
    command.argv = with_descriptor_7(command.argv);
    return run(command);
  }

  // A program at a time for each of the two processors that any machine has.
  static std::vector<Ran> run_all(const std::function<Ran(const Program&)>& run_one) {
    std::vector<Ran> answers(programs().size());
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t at = next++; at < answers.size(); at = next++) answers[at] = run_one(programs()[at]);
    };
    std::thread other(work);
    work();
    other.join();
    return answers;
  }

  const fs::path& scene_root() const { return const_cast<Conformance*>(this)->scene().root(); }
  void end_victim() { victim_.reset(); }
  const std::string& marker() const { return marker_; }

 private:
  Scene elsewhere_{As::self};
  Listener listener_;
  std::string marker_ = marker_seconds();
  std::unique_ptr<Started> victim_;
};
INSTANTIATE_TEST_SUITE_P(Rung, Conformance, ::testing::ValuesIn(seats()),
                         [](const auto& param) { return name_of(param); });

TEST_P(Conformance, ThePromisesAreTheSameOnEveryRung) {
  const Traces before = traces();
  const auto answers = run_all([&](const Program& program) { return under_cloche_as_told(program); });
  for (size_t at = 0; at < answers.size(); ++at) {
    const Program& program = programs()[at];
    EXPECT_EQ(answer_of(answers[at]), expected(program, backend()))
        << program.name << "\nstderr: " << answers[at].err.substr(0, 600);
  }
  EXPECT_EQ(read_file(workspace() / "made.txt"), "made\n") << "what it writes there is there";
  EXPECT_FALSE(fs::exists("/tmp/cloche-ladder-" + marker()));
  end_victim();
  EXPECT_TRUE(all_gone(marker(), 2));
  EXPECT_EQ(orphans_left(2), "");
  EXPECT_EQ(traces_left(before, 2), "");
}

// How many children it gets, the command itself not counted.
constexpr const char* count_forks = R"(
import os, time
count = 0
try:
  while count < 20:
    if os.fork() == 0:
      time.sleep(5)
      os._exit(0)
    count += 1
except BlockingIOError: pass
print(count, flush=True)
)";

// What a box is made of is no part of it: the same number means the same at every isolation level.
TEST_P(Conformance, AProcessLimitCountsTheCommandsOwnAlone) {
  // Without a box and a cgroup the kernel counts all that the user has running, and some of it may begin or
  // end between the look at it and the command.
  const bool by_root = as() == As::self && geteuid() == 0;
  const int most_tries = backend() == "subprocess" && !by_root ? 20 : 1;
  for (const int limit : {1, 2, 9}) {
    const Command counting =
        on_rung({"--toolchains", "none", "--pids", std::to_string(limit)}, {"python3", "-c", count_forks});
    Ran ran = run(counting);
    for (int tries = 1; tries < most_tries && ran.out != std::to_string(limit - 1) + "\n"; ++tries)
      ran = run(counting);
    EXPECT_TRUE(printed(ran, std::to_string(limit - 1) + "\n")) << "--pids " << limit;
  }
}

// The same programs by the same identity without Cloche.
class Control : public Conformance {
 protected:
  bool is_tried(const Program& program) const {
    return program.control && !(program.control_of_root && as() == As::nobody);
  }
  Ran without_cloche(const Program& program) const {
    if (!is_tried(program)) return {};
    Command command = {.argv = with_descriptor_7(argv_of(program)),
                       .as = as(),
                       .cwd = workspace(),
                       .env = places(),
                       .input = program.input};
    command.env["CALLERS_TOKEN"] = "hush";
    return run(command);
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, Control, ::testing::ValuesIn([] {
                           std::vector<LaunchResources> all;
                           for (As as : identities()) all.push_back({rungs[0], as});
                           return all;
                         }()),
                         [](const auto& param) { return std::string(name_of(param.param.as)); });

TEST_P(Control, WithoutClocheTheForbiddenThingsWork) {
  const auto answers = run_all([&](const Program& program) { return without_cloche(program); });
  for (size_t at = 0; at < answers.size(); ++at) {
    const Program& program = programs()[at];
    if (!is_tried(program)) continue;
    EXPECT_EQ(answer_of(answers[at]), *program.control)
        << program.name << "\nstderr: " << answers[at].err.substr(0, 600);
  }
}

TEST(Programs, AreTwentyAtLeastAndEachExceptionIsOne) {
  EXPECT_GE(programs().size(), 20U);
  for (const Program& program : programs()) {
    for (const auto& exception : program.exceptions) {
      EXPECT_NE(exception.answer, program.answer) << program.name;
      EXPECT_FALSE(exception.reason.empty()) << program.name;
    }
  }
}

}  // namespace
}  // namespace cloche::test
