// How the jail speaks: fixed-size messages on the control socket, and one way to die.
#pragma once

#include "jail/wire.hpp"

namespace cloche::jail {

void send(const wire::Report& report);
// The message carries the descriptor as well.
void send_with(const wire::Report& report, int fd);

// Says which step failed and with what, and ends this process. Nothing has been executed at that point.
[[noreturn]] void fail(wire::Step step, int number, uint32_t index = 0);

// `value`, or fail when it is negative.
int must(int value, wire::Step step, uint32_t index = 0);

}  // namespace cloche::jail
