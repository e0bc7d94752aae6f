// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_nova.h"

#include <string>
#include <string_view>

#include "balancer/host/xml_names.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kNovaNamespaces[] = {"http://openstack.org/xmlns/libvirt/nova/1.1",
                                                "http://openstack.org/xmlns/libvirt/nova/1.0"};
constexpr std::size_t kLongestProject = 255;

bool is_of_nova(pugi::xml_node element) {
  const std::string_view name = namespace_of(element);
  return name == kNovaNamespaces[0] || name == kNovaNamespaces[1];
}

/// The first Nova element of that name; an empty node if there is none.
pugi::xml_node nova_child(pugi::xml_node parent, std::string_view name) {
  for (const pugi::xml_node element : parent.children()) {
    if (element.type() == pugi::node_element && local_name_of(element.name()) == name &&
        is_of_nova(element)) {
      return element;
    }
  }
  return {};
}

std::string at_most_longest(std::string_view text) {
  return text.size() > kLongestProject ? std::string() : std::string(text);
}

}  // namespace

NovaProject nova_project_of(pugi::xml_node domain) {
  const pugi::xml_node instance = nova_child(domain.child("metadata"), "instance");
  const pugi::xml_node project = nova_child(nova_child(instance, "owner"), "project");
  return {at_most_longest(project.text().get()),
          at_most_longest(project.attribute("uuid").value())};
}

}  // namespace vmnuma::balancer
