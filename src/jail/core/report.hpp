// How the jail speaks: fixed-size messages on the control socket, and one way to die.
//
// An inner jail may have no socket: then the messages go to a file that the box's keeper reads, or, started
// by hand, what went wrong goes to stderr as a sentence.
#pragma once

#include <span>

#include "jail/core/wire.hpp"

namespace cloche::jail {

enum class ReportWay { socket, file, text };
void report_by(ReportWay chosen);  // without it: by the socket
// In a file: what is said before there is a command carries this number, which no process has later.
void seal_with(uint64_t number);
ReportWay report_way();

void send(const wire::Report& report);
// The message carries the descriptor as well, where it can carry one.
void send_with(const wire::Report& report, int fd);
void send_with(const wire::Report& report, std::span<const int> fds);

// Says which step failed and with what, and ends this process. Nothing has been executed at that point.
[[noreturn]] void fail(wire::Step step, int number, uint32_t index = 0);

// `value`, or fail when it is negative.
int must(int value, wire::Step step, uint32_t index = 0);

// Fails with ESTALE unless the descriptor is of the judged file: a path may lead elsewhere by now.
void must_be(const wire::Identity& judged, int fd, wire::Step step, uint32_t index = 0);

}  // namespace cloche::jail
