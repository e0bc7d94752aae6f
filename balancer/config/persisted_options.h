// SPDX-License-Identifier: Apache-2.0
/// Options that `vmnuma options set --persist` has changed, in a file of the daemon's own.
///
/// Problem: such a change must survive a restart, but the administrator's file is neither the
/// daemon's to write nor writable in its sandbox. Approach: a small file `options.toml` in the
/// state directory, in the same form as the administrator's `[options]`, and stronger than it.
/// Deleting a line, or the file, undoes it.
///
/// Properties:
///  - a crash leaves the old file or the new one;
///  - a file that is not in order, such as one with an option of a newer version, keeps no daemon
///    from starting: it is set aside under another name, and those of its options that are in order
///    go on;
///  - what was done is told;
///  - nothing is ever deleted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// What becomes of a file that is not in order.
enum class Damaged {
  kSetAside,  ///< renamed to "options.toml.damaged-N"
  kLeave,     ///< only told: by who looks, but does not run
};

/// Sets the persisted options in `config`, with Origin::kPersisted, and adds to `config.notices`
/// what the administrator should know: what is not in order, and what was done about it. A missing
/// file is in order.
void apply_persisted_options(Config& config, Damaged damaged);

/// Adds one option to the file in `state_dir`, or changes it there. Blocking: syncs the file.
/// Errors: not-found, invalid-argument (as set_option(), or a damaged file, which is left),
/// permission-denied, no-space, io.
[[nodiscard]] Result<void> persist_option(const std::string& state_dir, std::string_view name,
                                          std::int64_t value);

}  // namespace vmnuma::balancer
