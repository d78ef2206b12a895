// From the words that declare a host - a flag, a skill, a capability - to the entries of a plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "policy/hosts/host_patterns.hpp"

namespace cloche {

// NAME, NAME:PORT, *.NAME, *.NAME:PORT or localhost:PORT, into the plan's spelling; without a port 80 and
// 443. What is there already is not added again.
Result<void> declare_host(std::vector<std::string>& hosts, std::string_view word);
// Any public name, on 80 and 443.
Result<void> declare_any_host(std::vector<std::string>& hosts);

// What an operator's list says for "any public name"; no skill can write it.
inline constexpr std::string_view any_host = "*";
// Whether what a list says - words as declare_host takes them, or any_host - lets this host be reached.
bool is_declared(const DeclaredHost& wanted, const std::vector<std::string>& words);

// The operator's own flag, as sentences name it.
inline constexpr std::string_view net_flag = "--net";

// Who declared what, for sentences: "--net: [pypi.org, *.example.org:8443]", "--net-any". Of a plan's
// entries, or of the words as they were written. A name without a port means 80 and 443, as it does where it
// is declared.
std::string describe_declared(std::string_view by, const std::vector<std::string>& hosts);

}  // namespace cloche
