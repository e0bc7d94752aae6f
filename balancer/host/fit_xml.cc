// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/fit_xml.h"

#include <algorithm>
#include <iterator>
#include <pugixml.hpp>
#include <utility>

#include <fmt/format.h>

#include "balancer/host/domain_document.h"
#include "balancer/host/xml_editing.h"
#include "balancer/host/xml_fields.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

template <class Id>
std::vector<Id> common(const std::vector<Id>& a, const std::vector<Id>& b) {
  std::vector<Id> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

class Fitter {
 public:
  explicit Fitter(const HostSets& host) : host_(host) {}

  void fit(pugi::xml_node domain) {
    fit_vcpu(domain.child("vcpu"));
    const pugi::xml_node cputune = domain.child("cputune");
    fit_pins(cputune, "vcpupin");
    fit_pins(cputune, "emulatorpin");
    fit_pins(cputune, "iothreadpin");
    fit_numatune(domain.child("numatune"));
    for (const pugi::xml_node device : domain.child("devices").children("memory")) {
      fit_nodemask(device.child("source"));
    }
  }

  [[nodiscard]] const std::optional<std::string>& complaint() const { return fields_.complaint(); }
  [[nodiscard]] std::vector<std::string> take_changes() && { return std::move(changes_); }

 private:
  /// The part of a set that exists on this host; nothing if that is the whole set. A reduction is
  /// reported as a change of `what`.
  std::optional<std::vector<CpuId>> left_of_cpus(std::string_view text, const std::string& what) {
    const std::vector<CpuId> given = fields_.cpus(text, what);
    return left_of(given, host_.cpus, "CPUs", what);
  }
  std::optional<std::vector<NodeId>> left_of_nodes(std::string_view text, const std::string& what) {
    const std::vector<NodeId> given = fields_.nodes(text, what);
    return left_of(given, host_.memory_nodes, "nodes", what);
  }
  template <class Id>
  std::optional<std::vector<Id>> left_of(const std::vector<Id>& given, const std::vector<Id>& here,
                                         std::string_view kind, const std::string& what) {
    std::vector<Id> left = common(given, here);
    if (left == given) {
      return std::nullopt;
    }
    changes_.push_back(
        left.empty()
            ? fmt::format("{}: this host has none of the {} {}, so this restriction is removed",
                          what, kind, to_list(given))
            : fmt::format("{}: {} {} instead of {}", what, kind, to_list(left), to_list(given)));
    return left;
  }

  /// Writes what is left of an element's set; if that is nothing, removes the element.
  template <class Id>
  static void write(const std::optional<std::vector<Id>>& left, pugi::xml_node element,
                    const char* attribute) {
    if (left && left->empty()) {
      remove_line(element);
    } else if (left) {
      element.attribute(attribute).set_value(to_list(*left).c_str());
    }
  }

  void fit_vcpu(pugi::xml_node vcpu) {
    pugi::xml_attribute cpuset = vcpu.attribute("cpuset");
    if (!cpuset) {
      return;
    }
    if (const auto left = left_of_cpus(cpuset.value(), "<vcpu> cpuset")) {
      if (left->empty()) {
        vcpu.remove_attribute(cpuset);
      } else {
        cpuset.set_value(to_list(*left).c_str());
      }
    }
  }

  void fit_pins(pugi::xml_node cputune, const char* element) {
    for (pugi::xml_node pin = cputune.child(element); pin;) {
      const pugi::xml_node next = pin.next_sibling(element);
      const pugi::xml_attribute number = pin.first_attribute();
      const std::string what =
          std::string_view(element) == "emulatorpin"
              ? "<emulatorpin>"
              : fmt::format("<{} {}='{}'>", element, number.name(), number.value());
      write(left_of_cpus(pin.attribute("cpuset").value(), what), pin, "cpuset");
      pin = next;
    }
  }

  void fit_numatune(pugi::xml_node numatune) {
    if (pugi::xml_attribute nodeset = numatune.child("memory").attribute("nodeset")) {
      if (auto left = left_of_nodes(nodeset.value(), "<numatune> memory")) {
        nodeset.set_value(to_list(left->empty() ? host_.memory_nodes : *left).c_str());
      }
    }
    for (pugi::xml_node cell = numatune.child("memnode"); cell;) {
      const pugi::xml_node next = cell.next_sibling("memnode");
      const std::string what =
          fmt::format("<memnode cellid='{}'>", cell.attribute("cellid").value());
      write(left_of_nodes(cell.attribute("nodeset").value(), what), cell, "nodeset");
      cell = next;
    }
  }

  void fit_nodemask(pugi::xml_node source) {
    const pugi::xml_node mask = source.child("nodemask");
    if (!mask) {
      return;
    }
    if (const auto left = left_of_nodes(mask.text().get(), "<memory> nodemask")) {
      if (left->empty()) {
        remove_line(mask);
      } else {
        mask.text().set(to_list(*left).c_str());
      }
    }
  }

  const HostSets& host_;
  XmlFields fields_;
  std::vector<std::string> changes_;
};

}  // namespace

Result<std::optional<FittedXml>> fit_xml(std::string_view xml, const HostSets& host) {
  pugi::xml_document document;
  VMNUMA_ASSIGN_OR_RETURN(const auto domain, load_domain_document(xml, kKeepEverything, document));
  Fitter fitter(host);
  fitter.fit(domain);
  if (fitter.complaint()) {
    return failure(ErrorCode::kInvalidArgument, "domain XML: " + *fitter.complaint());
  }
  std::vector<std::string> changes = std::move(fitter).take_changes();
  if (changes.empty()) {
    return std::nullopt;
  }
  return FittedXml{text_of(document, xml), std::move(changes)};
}

}  // namespace vmnuma::balancer
