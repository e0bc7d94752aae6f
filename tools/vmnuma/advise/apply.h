// SPDX-License-Identifier: Apache-2.0
/// `vmnuma advise --apply` and `--undo`: changes the definition of a VM as advised, and back.
///
/// Properties:
///  - a running VM is never changed;
///  - nothing is changed without confirmation or --yes;
///  - the old definition is saved first, so that a failure in between loses nothing;
///  - passwords are not shown.
#pragma once

#include "tools/vmnuma/advise/advice_text.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

/// Redefines `vm`, read with passwords, as advised. Fails also if the user declines.
[[nodiscard]] OrFailure<int> apply_advice(const AdviseRun& run, const AdvisedVm& vm,
                                          const Context& context);

/// Restores the definition from before the last apply_advice() that was not undone.
[[nodiscard]] OrFailure<int> undo_advice(const AdviseRun& run, const Context& context);

/// Lists what undo_advice() could restore, for all VMs.
[[nodiscard]] OrFailure<int> list_undo(const AdviseRun& run, const Context& context);

/// Returns the XML without the passwords in it (attributes `passwd` of graphics).
[[nodiscard]] std::string without_passwords(std::string xml);

}  // namespace vmnuma::tools
