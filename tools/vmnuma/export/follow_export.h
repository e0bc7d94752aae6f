// SPDX-License-Identifier: Apache-2.0
/// `vmnuma export --follow`: prints a line for every state of the host that differs from the
/// previous one.
///
/// Problem: a script that applies the document to a cluster should do so only when something
/// changed, and should survive restarts of the daemon. Approach: ask as often as the daemon
/// measures, or as requested, and print the document if it differs from the last one.
///
/// Properties:
///  - equal documents are printed once;
///  - while there is no answer, and until a new daemon has measured an epoch and knows the VMs,
///    nothing is printed, and this is reported once;
///  - if the reader ends, or on a signal to stop, the program ends normally.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Continues until `surroundings.pause` returns that it should stop, or until the reader is gone.
/// Returns the exit code.
[[nodiscard]] int follow_export(const ExportRun& run, const Invocation& invocation,
                                Surroundings& surroundings);

}  // namespace vmnuma::tools
