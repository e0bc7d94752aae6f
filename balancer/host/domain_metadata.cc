// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/domain_metadata.h"

#include <string_view>

#include "balancer/host/domain_document.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kNovaNamespaces[] = {"http://openstack.org/xmlns/libvirt/nova/1.1",
                                                "http://openstack.org/xmlns/libvirt/nova/1.0"};
constexpr std::string_view kLibosinfoNamespace = "http://libosinfo.org/xmlns/libvirt/domain/1.0";
constexpr std::size_t kLongest = 255;

bool is_of_libosinfo(pugi::xml_node element, std::string_view name) {
  return local_name_of(element.name()) == name && namespace_of(element) == kLibosinfoNamespace;
}

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
  return text.size() > kLongest ? std::string() : std::string(text);
}

}  // namespace

std::string guest_os_of(pugi::xml_node domain) {
  for (const pugi::xml_node element : domain.child("metadata").children()) {
    if (!is_of_libosinfo(element, "libosinfo")) {
      continue;
    }
    for (const pugi::xml_node inside : element.children()) {
      const std::string_view id = inside.attribute("id").value();
      if (is_of_libosinfo(inside, "os") && id.size() <= kLongest) {
        return std::string(id);
      }
    }
  }
  return {};
}

NovaProject nova_project_of(pugi::xml_node domain) {
  const pugi::xml_node instance = nova_child(domain.child("metadata"), "instance");
  const pugi::xml_node project = nova_child(nova_child(instance, "owner"), "project");
  return {at_most_longest(project.text().get()),
          at_most_longest(project.attribute("uuid").value())};
}

}  // namespace vmnuma::balancer
