// SPDX-License-Identifier: Apache-2.0
/// `vmnuma export --follow`: a line for every state of the host that differs from the one before.
///
/// Problem: a script that applies the document to a cluster should do so when there is something to
/// apply, and outlive the daemon's restarts. Approach: look as often as the daemon measures, or as
/// was asked for, and print what is not what was printed last.
///
/// Properties:
///  - equal documents are printed once;
///  - while there is no answer, and until a new daemon has measured an epoch and knows the VMs,
///    nothing is printed and one sentence is said;
///  - an end of the reader, or a signal to stop, is an end like any other.
#pragma once

#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/surroundings.h"

namespace vmnuma::tools {

/// Goes on until `surroundings.pause` says to stop, or nobody reads any more. Returns the exit
/// code.
[[nodiscard]] int follow_export(const ExportRun& run, const Invocation& invocation,
                                Surroundings& surroundings);

}  // namespace vmnuma::tools
