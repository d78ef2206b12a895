#include "policy/judge_home.hpp"

#include "base/text/visible_text.hpp"

namespace cloche {

Result<std::string> judge_home(const HomeFacts& facts) {
  if (facts.written.empty())
    return refusal("HOME is not set and the passwd database has no home for the user id " +
                       std::to_string(facts.user) + ", so it is not known whose configuration holds",
                   "set HOME to your home directory");
  const std::string home = "HOME=" + shown(facts.written, 200);
  if (facts.in_proc)
    return refusal(home + " lies in /proc, so it is not known whose configuration holds",
                   "set HOME to your home directory");
  if (!facts.passed_over.empty())
    return refusal("XDG_CONFIG_HOME=" + shown(facts.config_home, 200) +
                       " belongs to another user, and the configuration in " + facts.passed_over +
                       " would not hold",
                   "unset it; with sudo, use sudo -H without -E");
  if (facts.place == facts.account) return facts.place;
  const bool there = facts.kind == FileFact::Kind::directory;
  if (!there && (facts.account.empty() || facts.kind != FileFact::Kind::absent))
    return refusal(home + " is no directory, so it is not known whose configuration holds",
                   "set HOME to your home directory, or unset it");
  if ((!there || facts.of_another_user) && facts.account_is_configured)
    return refusal(home + (there ? " belongs to another user" : " is not there") +
                       ", and the configuration in " + facts.account + " would not hold",
                   "set HOME to " + facts.account + "; with sudo, use sudo -H");
  return facts.place;
}

}  // namespace cloche
