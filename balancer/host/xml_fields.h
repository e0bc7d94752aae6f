// SPDX-License-Identifier: Apache-2.0
/// Reads single values from an XML document, with central error handling.
///
/// Problem: a domain XML has dozens of values that may each be malformed; checking every one at its
/// use obscures the reading. Approach: a reader that returns a harmless value for a malformed one
/// and remembers the first complaint, which the caller checks once, at the end of the document.
///
/// Properties:
///  - a number must be the whole text, not a prefix;
///  - sizes that do not fit 63 bits of bytes are refused;
///  - no input gives a value outside its stated range.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "placement/model/amounts.h"
#include "placement/model/ids.h"

namespace vmnuma::balancer {

/// CPU numbers are below libvirt's own limit (VIR_DOMAIN_CPUMASK_LEN, conf/domain_conf.h, 9.0).
inline constexpr std::int32_t kMostCpus = 16384;
/// Node numbers are below the kernel's limit (CONFIG_NODES_SHIFT is at most 10, Linux 6.1).
inline constexpr std::int32_t kMostNodes = 1024;

/// True if the attribute has this value, or if `value` is empty and there is no attribute.
[[nodiscard]] inline bool is(pugi::xml_attribute attribute, std::string_view value) {
  return attribute.value() == value;
}

class XmlFields {
 public:
  /// The first complaint, if there was any.
  [[nodiscard]] const std::optional<std::string>& complaint() const { return complaint_; }
  void complain(std::string message);

  /// Parses a decimal or "0x..." hexadecimal number within [least, most]; otherwise complains about
  /// `what` and returns `least`. Surrounding blanks are accepted.
  [[nodiscard]] std::int64_t number(std::string_view text, std::string_view what,
                                    std::int64_t least, std::int64_t most);

  /// Like number(), for ranges that fit an int32.
  [[nodiscard]] std::int32_t small_number(std::string_view text, std::string_view what,
                                          std::int32_t least, std::int32_t most);

  /// Parses a size in one of libvirt's units (virScaleInteger, util/virutil.c, 9.0): b, byte(s),
  /// and k, m, g, t, p, e alone or with iB (powers of 1024) or B (powers of 1000), in either case.
  /// No unit means KiB.
  [[nodiscard]] Bytes size(std::string_view number, std::string_view unit, std::string_view what);

  /// Parses an element's text with its `unit` attribute.
  [[nodiscard]] Bytes size(pugi::xml_node element, std::string_view what);

  /// CPU and node lists, "0-3,^2,8": the kernel's form, as libvirt prints it, in which "^2" removes
  /// what was named before it (virBitmapParse, util/virbitmap.c, 9.0). A list from which everything
  /// is removed is malformed.
  [[nodiscard]] std::vector<CpuId> cpus(std::string_view text, std::string_view what);
  [[nodiscard]] std::vector<NodeId> nodes(std::string_view text, std::string_view what);

 private:
  std::optional<std::string> complaint_;
};

}  // namespace vmnuma::balancer
