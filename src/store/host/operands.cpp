#include "store/host/operands.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

constexpr int max_links = 40;  // as the kernel counts

// Where on the host the command's `path` is: the innermost tree counts, as the last mount does.
std::string on_host(const std::string& path, const std::vector<ShownTree>& trees) {
  const ShownTree* inner = nullptr;
  for (const auto& tree : trees) {
    if (!is_beneath(tree.target, path)) continue;
    if (inner == nullptr || tree.target.size() >= inner->target.size()) inner = &tree;
  }
  return inner == nullptr ? path : inner->source + path.substr(inner->target.size());
}

class Walk {
 public:
  explicit Walk(const std::vector<ShownTree>& trees) : trees_(trees) {}

  OperandFact run(const std::string& directory, const std::string& written) {
    fact_.written = written;
    const bool absolute = !written.empty() && written[0] == '/';
    if (!absolute && is_itself(directory)) {
      begin_at(directory);
      rest_ = written;
    } else {
      rest_ = absolute ? written : directory + "/" + written;
    }
    while (!rest_.empty() && fact_.problem.empty()) step();
    fact_.resolved = at_.empty() ? "/" : at_;
    if (fact_.problem.empty() && is_beneath("/proc", fact_.resolved))
      fact_.problem = "it leads through /proc";
    if (at_.empty()) fact_.kind = Kind::directory;
    fact_.rooted = rooted_ && !at_.empty();
    return std::move(fact_);
  }

 private:
  // Resolved, and in no shown tree: every step from the root to it would only say so again.
  bool is_itself(const std::string& directory) const {
    return is_plain_absolute(directory) && directory != "/" && !is_beneath("/proc", directory) &&
           on_host(directory, trees_) == directory;
  }

  void begin_at(const std::string& directory) {
    at_ = directory;
    fact_.kind = Kind::directory;
    rooted_ = true;
  }

  void step() {
    const size_t slash = rest_.find('/');
    const std::string name = rest_.substr(0, slash);
    rest_ = slash == std::string::npos ? "" : rest_.substr(slash + 1);
    if (name.empty() || name == ".") return;
    if (name == "..") {
      at_ = at_.substr(0, at_.rfind('/') == std::string::npos ? 0 : at_.rfind('/'));
      fact_.kind = Kind::directory;
      return;
    }
    at_ += "/" + name;
    look_up();
  }

  void look_up() {
    struct stat seen {};
    const bool found = ::lstat(on_host(at_, trees_).c_str(), &seen) == 0;
    if (at_.rfind('/') == 0) rooted_ = found || errno != ENOENT;
    if (!found) {
      fact_.kind = Kind::absent;
      // No file can have a name that is too long, and nothing lies below a file: it would be here, and it is
      // not.
      const bool missing =
          errno == ENOENT || errno == ENOTDIR || (errno == ENAMETOOLONG && at_.size() < PATH_MAX);
      if (!missing) fact_.problem = "it cannot be resolved: " + std::string(strerrordesc_np(errno));
      return;
    }
    // What /proc says of this process is not what it would say of the command.
    if (is_beneath("/proc", at_) && at_ != "/proc") fact_.problem = "it leads through /proc";
    if (S_ISLNK(seen.st_mode)) return follow();
    fact_.kind = S_ISDIR(seen.st_mode) ? Kind::directory : (S_ISREG(seen.st_mode) ? Kind::file : Kind::other);
  }

  void follow() {
    auto says = sys::read_link(on_host(at_, trees_));
    if (!says.ok() || says.value().empty() || ++links_ > max_links) {
      fact_.problem = links_ > max_links ? "it goes through too many links" : "a link in it cannot be read";
      return;
    }
    at_ = says.value()[0] == '/' ? "" : at_.substr(0, at_.rfind('/'));
    rest_ = says.value() + "/" + rest_;
    if (rest_.size() > 16 * PATH_MAX) fact_.problem = "its links are too long";
  }

  const std::vector<ShownTree>& trees_;
  OperandFact fact_;
  std::string at_;    // resolved so far, without a link in it; empty is the root
  std::string rest_;  // still to be walked
  bool rooted_ = false;
  int links_ = 0;
};

// No system call takes a path this long; a program that shortens it first ends up where the letters say.
OperandFact by_letters(const std::string& directory, const std::string& written) {
  return {.written = written, .resolved = tidied(directory, written)};
}

}  // namespace

OperandFact observe_operand(const std::string& directory, const std::string& written,
                            const std::vector<ShownTree>& trees) {
  if (written.find('\0') != std::string::npos) {
    return {.written = written, .problem = "it has a NUL byte"};
  }
  return written.size() < PATH_MAX ? Walk(trees).run(directory, written) : by_letters(directory, written);
}

std::vector<OperandFact> observe_operands(const std::string& directory,
                                          const std::vector<std::string>& written,
                                          const std::vector<ShownTree>& trees) {
  std::vector<OperandFact> facts;
  for (const auto& path : written) facts.push_back(observe_operand(directory, path, trees));
  return facts;
}

}  // namespace cloche
