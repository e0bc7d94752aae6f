// SPDX-License-Identifier: Apache-2.0
/// Checks names of the host's devices before they become parts of paths.
#pragma once

#include <string_view>

namespace vmnuma {

/// Returns true for a valid name of a network interface, by the rules of dev_valid_name()
/// (net/core/dev.c, Linux 6.1).
[[nodiscard]] bool is_interface_name(std::string_view name);

/// Returns true for the name of a file below /dev: relative, shorter than 200 bytes, without a
/// newline, and no part of it begins with '.'.
[[nodiscard]] bool is_device_name(std::string_view name);

/// Returns true for a name of a device pool: up to 64 letters, digits, '-', '_' and '.'.
[[nodiscard]] bool is_pool_name(std::string_view name);

/// Returns true for the address of a PCI device in lspci's long form: "0000:3b:00.0", in lower
/// case.
[[nodiscard]] bool is_pci_address(std::string_view text);

}  // namespace vmnuma
