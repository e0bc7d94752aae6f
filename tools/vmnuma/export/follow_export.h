// SPDX-License-Identifier: Apache-2.0
/// `vmnuma export --follow`: a line for every state of the host that differs from the one before.
///
/// Problem: a script that applies the document to a cluster should do so only when something
/// changed, and survive restarts of the daemon. Approach: look as often as the daemon measures, or
/// as requested, and print the document if it differs from the last one.
///
/// Properties:
///  - equal documents are printed once;
///  - while there is no answer, and until a new daemon has measured an epoch and knows the VMs,
///    nothing is printed, and one sentence is reported;
///  - the end of the reader, or a signal to stop, is a normal end.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Continues until `surroundings.pause` says to stop, or the reader is gone. Returns the exit code.
[[nodiscard]] int follow_export(const ExportRun& run, const Invocation& invocation,
                                Surroundings& surroundings);

}  // namespace vmnuma::tools
