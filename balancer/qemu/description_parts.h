// SPDX-License-Identifier: Apache-2.0
/// The parts that a description is made of, in this order. Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/qemu/command_line.h"
#include "balancer/qemu/described_vm.h"

namespace vmnuma::balancer::qemu {

/// -smp.
void describe_cpus(const CommandLine& line, DescribedVm& vm);
/// -m, -numa, -object memory-backend-*, -mem-path, -overcommit, DIMMs. After the CPUs.
void describe_memory(const CommandLine& line, const HostFacts& host, DescribedVm& vm);
/// Its ties to host devices, and I/O threads.
void describe_devices(const CommandLine& line, DescribedVm& vm);

/// Parses sizes as QEMU does ("512", "1.5G", "2048M"); `unit` is that of a bare number. Nothing if
/// it is not a size, or is larger than an exbibyte.
[[nodiscard]] std::optional<Bytes> parse_size(std::string_view text, Bytes unit);

/// Adds a note unless it exists already.
void note(DescribedVm& vm, std::string text);

}  // namespace vmnuma::balancer::qemu
