#include "confine/boxes/inner_command.hpp"

#include <sys/resource.h>

#include "confine/kernel_rules.hpp"
#include "model/names.hpp"

namespace cloche {
namespace {

std::string_view name_of_access(wire::Access access) {
  static constexpr std::string_view names[] = {"list",      "read",   "run",      "write",
                                               "write_run", "device", "looked_at"};
  return name_in<wire::Access::looked_at>(names, access);
}

using Around = InnerOptions::Around;

// "DEVICE:INODE"
std::string text_of(const wire::Identity& judged) {
  return std::to_string(judged.device) + ":" + std::to_string(judged.inode);
}

class Words {
 public:
  void flag(std::string_view name) { words_.emplace_back(name); }
  void flag(std::string_view name, std::string value) {
    words_.emplace_back(name);
    words_.push_back(std::move(value));
  }
  std::vector<std::string> followed_by(const std::vector<std::string>& command) && {
    words_.insert(words_.end(), command.begin(), command.end());
    return std::move(words_);
  }

 private:
  std::vector<std::string> words_;
};

// Of the host's own tree nothing but what is named: there "/" is not an empty root that may be listed.
void add_rules(Words& words, const ConfinementPlan& plan, const InnerOptions& options) {
  words.flag("--landlock", std::to_string(options.landlock_abi));
  if (options.landlock_abi == 0) return;
  for (const auto& rule : options.around == Around::host ? shown_rules_for(plan) : rules_for(plan)) {
    words.flag("--allow", std::string(name_of_access(rule.access)) + ":" + rule.path);
    if (rule.judged.inode != 0) words.flag("--judged", text_of(rule.judged));
  }
}

}  // namespace

std::string octal(unsigned mode) {
  std::string digits;
  for (; mode != 0; mode /= 8) digits.insert(digits.begin(), static_cast<char>('0' + mode % 8));
  return "0" + digits;
}

std::string escaped(std::string_view word) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && c != '%') {
      out += c;
      continue;
    }
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 0xfU];
  }
  return out;
}

std::vector<std::string> inner_arguments(const ConfinementPlan& plan, const InnerOptions& options) {
  Words words;
  words.flag("--inner");
  if (options.control) words.flag("--control", std::to_string(*options.control));
  if (options.report) words.flag("--report", *options.report);
  if (options.becomes) {
    words.flag("--become", std::to_string(plan.inside_uid) + ":" + std::to_string(plan.inside_gid));
  }
  if (options.given_away) words.flag("--give-away", *options.given_away);
  words.flag("--umask", octal(plan.umask));
  words.flag("--directory", plan.directory);
  if (options.directory.inode != 0) words.flag("--judged-directory", text_of(options.directory));
  for (const auto& [resource, value] : limits_for(plan.limits)) {
    if (resource == RLIMIT_NPROC && !options.others) continue;
    if (resource == RLIMIT_CPU && options.processor_by_host) continue;
    const uint64_t counted = resource == RLIMIT_NPROC ? value + *options.others : value;
    words.flag("--limit", std::string(name_of_resource(resource)) + "=" + std::to_string(counted));
  }
  // What was seen of them; the jail finds out whether the kernel counts more.
  if (options.around != Around::box && options.others)
    words.flag("--others", std::to_string(*options.others));
  add_rules(words, plan, options);
  if (plan.terminal && options.control) words.flag("--terminal");
  if (plan.debugging) words.flag("--debugging");
  if (plan.plain_directory) words.flag("--plain-directory");
  if (options.watched) words.flag("--watched");
  if (options.around == Around::host) {
    words.flag("--alone");
    if (plan.network == Network::of_host) words.flag("--host-network");
  }
  if (options.around == Around::nothing_held) words.flag("--open");
  for (auto& program : program_candidates(plan)) words.flag("--program", std::move(program));
  words.flag("--");
  return std::move(words).followed_by(plan.argv);
}

}  // namespace cloche
