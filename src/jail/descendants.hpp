// Ends every process that this one has started, directly or not, where no pid namespace does it.
//
// The caller is a subreaper, so a daemon that has let go of its parents has this process for one. Whoever is
// found is stopped before his children are looked for: a stopped process makes no more of them and waits for
// none, so its children's numbers stay theirs. Only then is everybody killed and reaped; and again, until
// nobody is left.
#pragma once

namespace cloche::jail {

void end_descendants();

}  // namespace cloche::jail
