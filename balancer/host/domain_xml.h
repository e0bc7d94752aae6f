// SPDX-License-Identifier: Apache-2.0
/// Reads a VM's description from libvirt's live domain XML.
///
/// Problem: guest NUMA cells, pins, numatune, memory backing and passed-through devices of a
/// running domain are found only in its XML, in a format that has grown for years and omits most
/// defaults. Approach: one function from text to VmDescription. It reads the canonical form that
/// libvirt itself prints (virDomainDefFormat, conf/domain_conf.c, 9.0), and hand-written
/// alternatives (lists with exclusions, cells without ids or <memory>), fills in libvirt's
/// defaults, and refuses what it cannot understand rather than guess.
///
/// Terms: *cell*, a guest NUMA node; *pin*, a thread's cpuset.
///
/// Properties:
///  - any input gives a description or an error, never a crash, and bounded memory;
///  - whatever is returned keeps the promises of placement/model/domain.h (ascending, unique, in
///    range);
///  - elements unknown to us are ignored, malformed known ones are errors that name the domain if
///    its name could be read.
#pragma once

#include <string_view>

#include "placement/base/result.h"
#include "placement/model/amounts.h"
#include "placement/model/domain.h"

namespace vmnuma::balancer {

/// Parses `xml`, a live <domain>; without an `id` attribute (a definition that does not run)
/// domain_id is -1. `default_huge_page_size` is the meaning of <hugepages/> without a size on this
/// host: Hugepagesize of /proc/meminfo. The policy keeps its defaults; `own_policy` is taken from
/// the metadata. Reads no file and does not call libvirt; any thread. Errors: invalid-argument.
[[nodiscard]] Result<VmDescription> parse_domain_xml(std::string_view xml,
                                                     Bytes default_huge_page_size);

}  // namespace vmnuma::balancer
