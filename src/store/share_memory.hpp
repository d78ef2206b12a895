// Whether what the programs read was judged as it lies there now. A plain `cloche run` reads none of it: what
// comes with Cloche is compiled in, and says the same as share/ does unless one of the two is broken. What
// lies there byte for byte as it was when the programs were built was judged by their tests; to judge all
// else takes longer than such a run has, so the call that judges it remembers which files those were.
#pragma once

#include <string>

namespace cloche {

// Which files those are. `program` is one of Cloche's, beside whose directory share/ stands.
std::string share_identity(const std::string& program);

enum class ShareJudged { no, as_built, remembered };
// `state` may be empty: then nothing is remembered. Leaves everything as it is.
ShareJudged share_judged(const std::string& program, const std::string& state);
// Looks once more, so that it is true of what is remembered.
void note_share_as_built(const std::string& program, const std::string& state);
// `identity` was taken before they were read.
void remember_judged_share(const std::string& program, const std::string& state, const std::string& identity);

}  // namespace cloche
