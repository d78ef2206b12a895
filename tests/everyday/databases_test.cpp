// Databases that a test suite starts for itself: PostgreSQL and redis, as Debian has them.
#include "everyday/support.hpp"

namespace cloche::test {
namespace {

class Databases : public Everyday {
 protected:
  void SetUp() override {
    // PostgreSQL runs for no root, and inside nobody is.
    if (bare() && is_root()) GTEST_SKIP() << "skipped: root without Cloche";
  }
};
FOR_EVERYONE(Databases);

// Debian has its programs in a directory for each version, and only those for clients on the search path.
constexpr const char* postgres = R"sh(set -e
cd "$(mktemp -d)"; export PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"
initdb -D data -A trust > log || { cat log; exit 1; }
mkdir /run/postgresql
pg_ctl -D data -w -l log start > started || { cat log; exit 1; }
psql -Atd postgres <<'SQL'
create table t (a int);
insert into t select generate_series(1, 1000);
select sum(a) from t;
SQL
psql -Ath localhost -d postgres -c "select 'by the network'"
pg_ctl -D data -w -m fast stop > stopped && echo stopped
)sh";

TEST_P(Databases, PostgresIsMadeStartedAskedAndStopped) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche /run is the host's";
  ASSERT_TRUE(installed("psql")) << "./dev test installs postgresql";
  EXPECT_TRUE(printed(bash(postgres), "CREATE TABLE\nINSERT 0 1000\n500500\nby the network\nstopped\n"));
}

constexpr const char* redis = R"sh(set -e
cd "$(mktemp -d)"
redis-server --port 0 --unixsocket "$PWD/socket" > log &
ask() { redis-cli -s socket "$@"; }
for try in $(seq 50); do ask ping > /dev/null 2>&1 && break; sleep 0.05; done
ask set key value; ask get key
ask bgsave > /dev/null  # in a child that shares its memory
for try in $(seq 50); do test -s dump.rdb && break; sleep 0.05; done
test -s dump.rdb && echo saved
ask shutdown nosave; wait; echo stopped
)sh";

TEST_P(Databases, RedisAnswersAndSavesInTheBackground) {
  ASSERT_TRUE(installed("redis-server")) << "./dev test installs redis-server";
  EXPECT_TRUE(printed(bash(redis), "OK\nvalue\nsaved\nstopped\n"));
}

// As many segments as it can have, all in use, and a large one.
constexpr const char* segments = R"(
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
PRIVATE, NEW = 0, 0o1600
def segment(size):
  made = libc.shmget(PRIVATE, ctypes.c_size_t(size), NEW)
  return made if made >= 0 else errno.errorcode[ctypes.get_errno()]
print(segment(16385) if isinstance(segment(16385), str) else "made")
total = 0
while isinstance(made := segment(16384), int):
  at = libc.shmat(made, None, 0)
  ctypes.memset(at, 1, 16384)
  libc.shmdt(ctypes.c_void_p(at))
  total += 16384
print(made, total <= 64 << 20)
)";

TEST_P(Databases, SegmentsBeyondTheWatchOfMemoryAreSmallAndFew) {
  if (bare()) GTEST_SKIP() << "skipped: without Cloche they are the host's";
  // Root has a cgroup, which counts them whatever their size.
  EXPECT_TRUE(printed(python(segments), is_root() ? "made\nENOSPC True\n" : "EPERM\nENOSPC True\n"));
}

}  // namespace
}  // namespace cloche::test
