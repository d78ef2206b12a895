// A write through a shared mapping leaves no time of change on tmpfs, nor on an overlay over one: what the
// host executes is told by what it holds there.
#include <unistd.h>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class MappedWrites : public Run {
 protected:
  // In a tree on a file system that `mounts` puts at ../t; afterwards which members hold what.
  Ran after(const std::string& mounts, const std::string& flags) const {
    const std::string owner = is_root() ? "0" : "65534";
    return with_own_mounts("export XDG_STATE_HOME='" + state_home(as()) + "'; mkdir -p ../t; " + mounts + R"(
cd ../t; mkdir ws; cd ws; mkdir -p .git/objects .git/refs .git/hooks pkg/.vscode pkg/inner/.git/{objects,refs,hooks}
for f in .envrc .git/hooks/pre-commit pkg/.envrc pkg/.vscode/{a,b}.json pkg/inner/.git/hooks/pre-commit pkg/data; do
  echo good > $f; done
ln -s data pkg/.npmrc
chown -R )" + owner + R"( .; sleep 0.1
$RUN )" + flags + R"( -- python3 -c '
import mmap, sys
for name in sys.argv[1:]:
    try:
        with open(name, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
            assert view[0:4] == b"good"  # a page that was read can be written without the kernel noticing
            view[0:4] = b"evil"
    except OSError: pass
' .envrc .git/hooks/pre-commit pkg/.envrc pkg/.vscode/a.json pkg/inner/.git/hooks/pre-commit pkg/data 2>/dev/null
grep -r . . | sort; find . -type l)");
  }
  static constexpr const char* tmpfs = "mount -t tmpfs -o mode=755 none ../t; ";
  static constexpr const char* overlay =
      "mount -t tmpfs -o mode=755 none ../t; mkdir ../t/{lower,upper,work,all}; "
      "mount -t overlay -o lowerdir=../t/lower,upperdir=../t/upper,workdir=../t/work none ../t/all; "
      "mount --move ../t/all ../t; ";
  // What was not changed, and what was put back; of the rest nothing, and of a link not what it leads to.
  static constexpr const char* as_it_should_be =
      "./.envrc:good\n./.git/hooks/pre-commit:good\n./pkg/.vscode/b.json:good\n./pkg/.npmrc\n";
};
FOR_EVERYONE(MappedWrites);

TEST_P(MappedWrites, OnTmpfsAreSeen) {
  NEEDS("python3");
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  for (const char* flags : {"--backend native", "--backend subprocess"})
    EXPECT_TRUE(printed(after(tmpfs, flags), as_it_should_be)) << flags;
}

TEST_P(MappedWrites, OnAnOverlayAreSeen) {
  NEEDS("python3");
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount one to try";
  // Root's box needs an owner mapped, which a kernel need not be able to on an overlay.
  const char* flags = is_root() ? "--backend subprocess" : "--backend native";
  EXPECT_TRUE(printed(after(overlay, flags), as_it_should_be)) << flags;
}

}  // namespace
}  // namespace cloche::test
