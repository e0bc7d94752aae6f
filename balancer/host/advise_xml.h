// SPDX-License-Identifier: Apache-2.0
/// A VM's definition as advised (placement/advice/advice.h).
///
/// Problem: advice is useful only in terms of a definition, and a definition contains much that the
/// advice does not concern. Approach: the input of advice is read from the XML, and the advice is
/// written into a copy of it. Everything else stays as it is, byte for byte except where XML has
/// several ways to write the same thing.
///
/// Properties:
///  - any input gives an XML that libvirt can read, or an error, never a crash;
///  - applying the advice for its own output changes nothing;
///  - the output, read again, means what the advice says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// Reads the input of advice from this definition, except its policy. Unlike libvirt's own
/// definitions, it may lack a <uuid>. `default_huge_page_size` as in parse_domain_xml(). Error:
/// invalid-argument.
[[nodiscard]] Result<AdviceRequest> read_advice_request(std::string_view xml,
                                                        Bytes default_huge_page_size);

/// The PCI devices of a VM, from its definition or its live XML. Errors: invalid-argument (not
/// domain XML), corrupt (invalid address).
[[nodiscard]] Result<std::vector<HeldDevice>> held_devices(std::string_view xml);

/// Returns `xml` with `advice` applied. Errors: invalid-argument; unsupported if its cells would
/// change and something else in it refers to individual cells: huge pages of several sizes, plugged
/// memory.
[[nodiscard]] Result<std::string> advised_xml(std::string_view xml, const Advice& advice);

}  // namespace vmnuma::balancer
