// SPDX-License-Identifier: Apache-2.0
/// Options changed by `vmnuma options set --persist`, in a file of the daemon's own.
///
/// Problem: such a change must survive a restart, but the administrator's file is not the daemon's
/// to write, and its sandbox does not let it. Approach: a small file `options.toml` in the state
/// directory, in the same form as the administrator's `[options]`, which it overrides. Deleting a
/// line, or the file, undoes the change.
///
/// Properties:
///  - after a crash there is either the old file or the new one;
///  - an invalid file, such as one with an option of a newer version, does not prevent the daemon
///    from starting: it is set aside under another name, and its valid options remain in effect;
///  - what was done is reported;
///  - nothing is ever deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// What to do with an invalid file.
enum class Damaged {
  kSetAside,  ///< renamed to "options.toml.damaged-N"
  kLeave,     ///< only report it: for programs that only look
};

/// Sets the persisted options in `config`, with Origin::kPersisted, and adds notices for the
/// administrator to `config.notices`: what is invalid, and what was done about it. A missing file
/// is not an error.
void apply_persisted_options(Config& config, Damaged damaged);

/// Adds one option to the file in `state_dir`, or changes it there. Blocking: syncs the file.
/// Errors: not-found, invalid-argument (as set_option(), or the file is invalid, which is then left
/// as it is), permission-denied, no-space, io.
[[nodiscard]] Result<void> persist_option(const std::string& state_dir, std::string_view name,
                                          std::int64_t value);

}  // namespace vmnuma::balancer
