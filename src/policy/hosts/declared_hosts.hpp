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
// What --net and the key `net` say: the same, or NAME@CIDR[:PORT], which also lets the name lead into that
// range (`ranges`, in the plan's spelling). The operator's alone.
Result<void> declare_reach(std::vector<std::string>& hosts, std::vector<std::string>& ranges,
                           std::string_view word);
// The word without its range: what is compared with the declarations of skills.
std::string without_range(std::string_view word);
// What of a declared host a list lets through: itself, or the narrower ones of the list.
std::vector<std::string> hosts_within(const std::string& declared, const std::vector<std::string>& words);
// What is left of the operator's words where a project says which may stay.
std::vector<std::string> narrowed_hosts(const std::vector<std::string>& words,
                                        const std::vector<std::string>& left);
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
