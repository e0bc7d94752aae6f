// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/xml_names.h"

#include <string>

namespace vmnuma::balancer {
namespace {

std::string_view prefix_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

}  // namespace

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
