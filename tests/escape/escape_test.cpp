// Runs every row of the tables twice: bare, where the attack must get through and do its damage (the
// control), and under Cloche, where it must be held and nothing outside may have changed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>

#include "escape/cases.hpp"

namespace cloche::test {
namespace {

constexpr int exit_planted = 0;
constexpr int exit_escaped = 10;
constexpr int exit_held = 20;

std::string first_line(const Ran& ran) {
  std::string text = ran.out.empty() ? ran.err : ran.out;
  text = text.substr(0, text.find('\n'));
  if (ran.timed_out) text += " (timed out)";
  return text;
}

std::string everything(const Ran& ran) {
  return "exit " + std::to_string(ran.exit_code) + ", signal " + std::to_string(ran.signal) +
         (ran.timed_out ? ", timed out" : "") + "\nstdout: " + ran.out + "\nstderr: " + ran.err;
}

void tell(const char* who, const std::string& what) { std::cout << "  " << who << ": " << what << std::endl; }

class Proof : public testing::Test {
 public:
  Proof(Case the_case, As as) : case_(std::move(the_case)), as_(as) {}

  void TestBody() override {
    const bool controlled = run_control();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    run_under_cloche();
    if (!controlled) GTEST_SKIP() << "skipped: control not possible: " << case_.may_be_missing;
  }

 private:
  void set(Stage& stage) const {
    if (case_.set) case_.set(stage);
  }

  As control_identity() const {
    const As other = as_ == As::self ? As::nobody : As::self;
    const bool is_root = as_ == As::self && geteuid() == 0;
    const std::string& reason = is_root ? case_.control_only_as_nobody : case_.control_only_as_root;
    if (reason.empty()) return as_;
    tell("control not possible as this identity", reason);
    return geteuid() == 0 ? other : as_;
  }

  // False when this machine has no control for the attack.
  bool run_control() const {
    Stage stage(control_identity(), Play::control);
    set(stage);
    const Ran ran = stage.run_attack(case_.attack);
    tell("control", first_line(ran));
    if (ran.exit_code == exit_held && !case_.may_be_missing.empty()) return false;
    const std::string damage = stage.damage(ran);
    if (stage.is_watched()) {
      EXPECT_NE(damage, "") << "the control did no damage\n" << everything(ran);
    }
    if (ran.exit_code == exit_planted && stage.is_watched()) return true;
    EXPECT_EQ(ran.exit_code, exit_escaped) << "the control must get through\n" << everything(ran);
    return true;
  }

  void run_under_cloche() const {
    const HostState before = look_at_host(as_);
    Stage stage(as_, Play::under_cloche);
    set(stage);
    const Ran ran = stage.run_attack(case_.attack);
    tell("cloche", first_line(ran));
    if (ran.exit_code != exit_planted || !stage.is_watched()) {
      EXPECT_EQ(ran.exit_code, exit_held) << everything(ran);
    }
    EXPECT_EQ(stage.damage(ran), "");
    EXPECT_EQ(left_behind(before, as_), "");
  }

  const Case case_;
  const As as_;
};

bool register_cases() {
  for (const auto& table :
       {file_cases(), mode_bit_cases(), descriptor_cases(), secret_cases(), process_cases(), socket_cases(),
        privilege_cases(), kernel_surface_cases(), terminal_cases(), ipc_cases()}) {
    for (const Case& one : table) {
      for (const As as : identities()) {
        testing::RegisterTest(("Escape/" + one.name).c_str(), (std::string("held/") + name_of(as)).c_str(),
                              nullptr, nullptr, __FILE__, __LINE__,
                              [one, as]() -> Proof* { return new Proof(one, as); });
      }
    }
  }
  return true;
}

const bool registered = register_cases();

}  // namespace
}  // namespace cloche::test
