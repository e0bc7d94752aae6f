// SPDX-License-Identifier: Apache-2.0
/// The parts of a description, in the order in which they must be called. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/qemu/command_line.h"
#include "balancer/qemu/described_vm.h"

namespace vmnuma::balancer::qemu {

/// Reads -smp.
void describe_cpus(const CommandLine& line, DescribedVm& vm);
/// Reads -m, -numa, -object memory-backend-*, -mem-path, -overcommit, DIMMs. To be called after
/// describe_cpus().
void describe_memory(const CommandLine& line, const HostFacts& host, DescribedVm& vm);
/// Reads the VM's ties to host devices, and its I/O threads.
void describe_devices(const CommandLine& line, DescribedVm& vm);

/// Parses sizes as QEMU does ("512", "1.5G", "2048M"); `unit` is that of a bare number. Nothing if
/// it is not a size, or is larger than an exbibyte.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text, Bytes unit);

/// Adds a note unless the same one exists already.
void note(DescribedVm& vm, std::string text);

}  // namespace vmnuma::balancer::qemu
