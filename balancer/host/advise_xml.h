// SPDX-License-Identifier: Apache-2.0
/// A VM's definition as advised (placement/advice/advice.h).
///
/// Problem: advice is of use in the words of a definition, and a definition has much that advice
/// says nothing about. Approach: what is asked of advice is read from the XML, and what it says is
/// written into a copy of it. All else stays as it is, byte for byte as far as XML has one way to
/// write it.
///
/// Properties:
///  - any input gives an XML that libvirt can read, or an error, never a crash;
///  - writing the advice for what was written changes nothing;
///  - what is written is understood as the advice says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "placement/advice/advice.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

/// What is asked of advice for this definition; its policy is not filled in. Unlike libvirt's own,
/// it may lack a <uuid>. `default_huge_page_size` as in parse_domain_xml(). Error:
/// invalid-argument.
[[nodiscard]] Result<placement::AdviceRequest> read_advice_request(
    std::string_view xml, placement::Bytes default_huge_page_size);

/// The PCI devices that a VM has, by its definition or its live XML. Errors:
/// invalid-argument (no domain XML), corrupt (an address in it is none).
[[nodiscard]] Result<std::vector<placement::HeldDevice>> held_devices(std::string_view xml);

/// `xml` as `advice` for it says. Errors: invalid-argument; unsupported if its cells would change
/// and something else in it names them one by one: huge pages of several sizes, plugged memory.
[[nodiscard]] Result<std::string> advised_xml(std::string_view xml,
                                              const placement::Advice& advice);

}  // namespace vmnuma::balancer
