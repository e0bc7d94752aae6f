// SPDX-License-Identifier: Apache-2.0
/// /proc/PID/pagemap: 8 bytes for every page of the address space, of which bit 63 says that the
/// page is in memory (Linux 6.1, Documentation/admin-guide/mm/pagemap.rst; fs/proc/task_mmu.c).
///
/// Unlike move_pages it sees pages that NUMA balancing has hidden, and reading it touches nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "migration/linux/kernel_file.h"
#include "placement/result.h"

namespace vmnuma::migration {

/// Whether the page is in memory, for each 8 bytes of `entries`; a rest of less is passed over.
[[nodiscard]] std::vector<bool> parse_pagemap(std::string_view entries);

/// Those of the addresses (ascending) whose pages are in memory, of the process behind the folder.
/// A page past the end of its address space is not. Errors as of Folder.
[[nodiscard]] Result<std::vector<std::uint64_t>> pages_in_memory(
    const Folder& process, std::span<const std::uint64_t> addresses);

}  // namespace vmnuma::migration
