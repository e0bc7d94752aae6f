// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_guest_os.h"

#include <string_view>

#include "balancer/host/xml_names.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kNamespace = "http://libosinfo.org/xmlns/libvirt/domain/1.0";
constexpr std::size_t kLongestId = 255;

bool is_called(pugi::xml_node element, std::string_view name) {
  return local_name_of(element.name()) == name && namespace_of(element) == kNamespace;
}

}  // namespace

std::string guest_os_of(pugi::xml_node domain) {
  for (const pugi::xml_node element : domain.child("metadata").children()) {
    if (!is_called(element, "libosinfo")) {
      continue;
    }
    for (const pugi::xml_node inside : element.children()) {
      const std::string_view id = inside.attribute("id").value();
      if (is_called(inside, "os") && id.size() <= kLongestId) {
        return std::string(id);
      }
    }
  }
  return {};
}

}  // namespace vmnuma::balancer
