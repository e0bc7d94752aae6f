// SPDX-License-Identifier: Apache-2.0
/// Options that `vmnuma options set --persist` has changed, in a file of the daemon's own.
///
/// Problem: such a change must survive a restart, but the administrator's file is neither the
/// daemon's to write nor writable in its sandbox. Approach: a small file `options.toml` in the
/// state directory, in the same form as the administrator's
/// `[options]`, and stronger than it. Deleting a line, or the file, undoes it.
/// Properties: a crash leaves the old file or the new one; a damaged file is reported and not
/// overwritten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "balancer/config/config.h"
#include "placement/result.h"

namespace vmnuma::balancer {

/// Sets the persisted options in `config`, with Origin::kPersisted. A missing file is no error.
/// Errors as load_config(); `config` is untouched on error.
[[nodiscard]] Result<void> apply_persisted_options(Config& config);

/// Adds one option to the file in `state_dir`, or changes it there. Blocking: syncs the file.
/// Errors: not-found, invalid-argument (as set_option(), or a damaged file), permission-denied,
/// no-space, io.
[[nodiscard]] Result<void> persist_option(const std::string& state_dir, std::string_view name,
                                          std::int64_t value);

}  // namespace vmnuma::balancer
