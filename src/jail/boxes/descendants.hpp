// Ends every process that this one has started, directly or not, where no pid namespace does it.
//
// The caller is a subreaper, so a daemon that has let go of its parents has this process for one. A process
// that is found is stopped before its children are looked for: a stopped process makes no more of them and
// waits for none, so its children's numbers stay theirs. Only then are all killed and reaped; and again,
// until none is left.
#pragma once

namespace cloche::jail {

void end_descendants();

}  // namespace cloche::jail
