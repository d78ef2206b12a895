// What /proc says of an egress process.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cloche::test {

// The egress process that a gateway has started; 0: none.
int gate_of(int gateway);
bool exists(int pid);
// "Name" to what is behind its colon, without the white space around it.
std::map<std::string, std::string> status_of(int pid);
// What its descriptors lead to.
std::vector<std::string> files_of(int pid);
size_t resident_bytes(int pid);
size_t peak_bytes(int pid);  // the most it ever had

}  // namespace cloche::test
