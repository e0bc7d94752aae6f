// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_document.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace vmnuma::balancer {
namespace {

/// The longest string that libvirt's protocol carries (REMOTE_STRING_MAX, remote/remote_protocol.x,
/// 9.0).
constexpr std::size_t kMostCharacters = 4 * 1024 * 1024;
/// libxml2, through which libvirt reads every definition, stops at this depth.
constexpr int kMostDepth = 256;

/// Stops at the first element that is nested too deeply.
class DepthCheck : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& /*node*/) override { return depth() < kMostDepth; }
};

std::string_view prefix_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

}  // namespace

Result<pugi::xml_node> load_domain_document(std::string_view xml, unsigned int flags,
                                            pugi::xml_document& document) {
  if (xml.size() > kMostCharacters) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("a domain XML of {} characters is longer than libvirt's limit of {}",
                               xml.size(), kMostCharacters));
  }
  const pugi::xml_parse_result parsed =
      document.load_buffer(xml.data(), xml.size(), flags, pugi::encoding_utf8);
  if (!parsed) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("not XML: {} at character {}", parsed.description(), parsed.offset));
  }
  if (DepthCheck depth; !document.traverse(depth)) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the XML is nested deeper than {} elements", kMostDepth));
  }
  const pugi::xml_node domain = document.document_element();
  if (std::string_view(domain.name()) != "domain") {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("the XML's outermost element is <{}>, not <domain>", domain.name()));
  }
  return domain;
}

std::string_view local_name_of(std::string_view name) {
  return name.substr(name.find(':') + 1);
}

std::string_view namespace_of(pugi::xml_node element) {
  const std::string_view prefix = prefix_of(element.name());
  const std::string declaration = prefix.empty() ? "xmlns" : "xmlns:" + std::string(prefix);
  for (pugi::xml_node node = element; node; node = node.parent()) {
    if (const pugi::xml_attribute found = node.attribute(declaration.c_str())) {
      return found.value();
    }
  }
  return {};
}

}  // namespace vmnuma::balancer
