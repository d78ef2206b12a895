// `cloche run --net ...` in the tests' world, and what the outcome says of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "egress/stage.hpp"
#include "run/fixture.hpp"

namespace cloche::test {

struct HostUsed {
  double connections = 0;
  double bytes_out = 0;
  double bytes_in = 0;
};

struct Called {
  Ran ran;  // of cloche itself
  std::string outcome;
  int exit_code = -1;
  std::string out;  // of the command
  std::string err;
  std::vector<std::string> denials;
  std::vector<std::string> failures;
  std::map<std::string, HostUsed> used;  // by "NAME:PORT"

  HostUsed use_of(const std::string& host) const;  // all zero: it was not used
  bool denied(const std::string& part) const;
  bool failed(const std::string& part) const;
};
std::ostream& operator<<(std::ostream& out, const Called& called);

class Egress : public Run {
 protected:
  using Words = std::vector<std::string>;

  // `cloche run --json --net HOST... FLAGS -- ARGV`; with `net-any` among the hosts: --net-any.
  Called call(const Words& hosts, const Words& argv, const Words& flags = {}, const Command& how = {});
  Command command_of(const Words& hosts, const Words& argv, const Words& flags = {}, Command how = {});
  static Called read(const Ran& ran);
  Called shell(const Words& hosts, const std::string& script, const Words& flags = {});
  // Our own client inside.
  Called client(const Words& hosts, const Words& words, const Words& flags = {}, const Command& how = {});
  // Its path in the workspace.
  std::string client_program();
  // The variables that tell every client of the test CA, as flags.
  Words with_authority();
};

// One connection of a table: what is sent to a name of its own, and the answer.
struct Shape {
  const char* what;
  std::string bytes;         // %H is the name
  const char* refused = "";  // how the denial's reason begins; empty: all of it is passed on, else none
  size_t piece = size_t{1} << 20;
  bool half = false;  // the client says that it has ended
};

class Shapes : public Egress {
 protected:
  // The number in the names of the next table: row 3 of table 7 is r3.t7.shapes.cloche.test.
  static int next_table() { return tables_ + 1; }
  // All of them in one call, to the recorder at this port.
  void expect(TcpServer& recorder, uint16_t port, const std::vector<Shape>& shapes);

 private:
  inline static int tables_ = 0;
};

// Waits until it is so, at most ten seconds.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    usleep(10'000);
  }
  return condition();
}

}  // namespace cloche::test
