// The caller's home, from HOME or from the passwd database: it decides whose configuration holds. Where
// neither gives one, the rules that the user wrote cannot be found, so every call is refused.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/environment.hpp"

namespace cloche {

// What an entry of the passwd database calls a home, as a plain path; empty: it is relative or empty.
std::string plain_home(std::string_view written);

// The home of the first account with this id in the text of a passwd file; empty: none, or no absolute path.
std::string home_of_id(std::string_view passwd, uid_t id);

// The same in what `getent passwd ID` printed; empty unless that is one whole line.
std::string home_in_answer(std::string_view answer, uid_t id);

// The caller's account in /etc/passwd, else in the other sources of the passwd database. Empty: none has it.
std::string home_of_account();

// Whether the variables alone do not settle it: HOME is unset, empty, not a directory, or a directory of
// another user, or XDG_CONFIG_HOME belongs to another user.
bool asks_for_account(const Environment& environment);

// The same environment; with the account's home, where the variables alone do not settle it.
Environment with_home_from_database(const Environment& environment);

// HOME, or else the account's. An Error: it is not known, or is not the absolute path of a directory, or lies
// in /proc; or it is not there or belongs to another user, or XDG_CONFIG_HOME does, while the account's own
// home has a configuration, which would be passed over.
Result<std::string> callers_home(const Environment& environment);

}  // namespace cloche
