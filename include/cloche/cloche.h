// Cloche as a library: put it between a model and the machine.
//
//     cloche::SessionOptions options = cloche::default_session();
//     options.operators.workspace = "proj";
//     auto gateway = cloche::Gateway::open(options, cloche::Environment(environ));
//     if (!gateway.ok()) return complain(describe(gateway.error()));
//     cloche::TerminalApprover approver;
//     cloche::CallResult result = gateway.value()->call({"run_shell", R"({"cmd": "ls"})"}, {}, approver);
//     send_to_model(result.result);
//
// Between calls set_autonomy(), set_default_profile() and set_enabled() change what the next ones may have,
// never beyond what the managed configuration says.
//
// A Gateway may be used from any number of threads. Nothing here throws, has globals, or looks at the
// environment behind the caller's back: what a call may see is what Environment was given. cloche-jail
// and cloche-probe stand beside the running program, or where options.programs says.
#pragma once

#include "base/sys/environment.hpp"
#include "base/result.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/approval/filed_approver.hpp"
#include "gateway/gateway.hpp"
