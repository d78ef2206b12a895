// The warden of a command without a box: changes modes and times for it, and lets it hear of files, where
// Landlock does not look.
//
// Theory of operation. Landlock decides what is opened, made and removed, but the owner of a file may change
// its mode and its times wherever it lies. In a mount view there is nothing else of the caller's; without
// one the filter stops these calls and asks the inner jail, which is the command's parent and waits for it
// anyway:
//
//   command   chmod("out/x", 0755) ──filter──► listener ──► warden
//   warden    reads the path from the command's memory, opens the object (O_PATH: nothing happens to it by
//             that) the way the command would have reached it, and asks the kernel where that is. Then it
//             opens that place again, beneath the descriptor of a tree that the command may write to,
//             passing no link; and only what is reached so, and is the same object, is changed.
//
// What the command says is never taken at its word: memory, descriptors and directories may change while they
// are looked at, and then another object is looked for beneath the written trees, or none. The warden
// carries a call out itself or refuses it; it never lets the kernel go on with one, because the kernel would
// read the path again (a signal to the asking process itself has no path: signal_proxy.hpp). Whatever is in
// doubt is EPERM. A file that has further names is not given another mode: they may lie anywhere. The warden
// has the command's own ids and no capability.
#pragma once

namespace cloche::jail {

// Where the kernel can, the asking thread and the warden take turns on one processor: that halves the time.
void prepare_listener(int listener);

// Takes one question from the listener and answers it.
void answer_one(int listener);

}  // namespace cloche::jail
