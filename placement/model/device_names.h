// SPDX-License-Identifier: Apache-2.0
/// Checks names of the host's devices before they become parts of paths.
#pragma once

#include <string_view>

namespace vmnuma {

/// By the rules of dev_valid_name() (net/core/dev.c, Linux 6.1).
[[nodiscard]] bool is_interface_name(std::string_view name);

/// For a file below /dev: no part of it begins with '.'.
[[nodiscard]] bool is_device_name(std::string_view name);

/// For a pool of devices: up to 64 letters, digits, '-', '_' and '.'.
[[nodiscard]] bool is_pool_name(std::string_view name);

/// For a PCI device in lspci's long form: "0000:3b:00.0", in lower case.
[[nodiscard]] bool is_pci_address(std::string_view text);

}  // namespace vmnuma
