// SPDX-License-Identifier: Apache-2.0
#include "tests/support/advised_definition.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "balancer/host/advise_xml.h"
#include "placement/advice/advice.h"
#include "placement/model/text.h"

namespace vmnuma::tests {

namespace {

std::string kib(Bytes bytes) {
  return fmt::format("unit='KiB'>{}<", bytes.value / kKiB.value);
}

std::string cpu_tune(const VmDescription& vm) {
  std::string pins;
  for (const Pin& pin : vm.vcpu_pins) {
    pins += fmt::format("    <vcpupin vcpu='{}' cpuset='{}'/>\n", pin.number, to_list(pin.cpus));
  }
  return pins.empty() ? "" : "  <cputune>\n" + pins + "  </cputune>\n";
}

std::string numa_tune(const VmDescription& vm) {
  return vm.numatune == NumatuneMode::kNone || vm.numatune_nodes.empty()
             ? ""
             : fmt::format("  <numatune>\n    <memory mode='{}' nodeset='{}'/>\n  </numatune>\n",
                           name_of(vm.numatune), to_list(vm.numatune_nodes));
}

std::string memory_backing(const VmDescription& vm) {
  std::string backing;
  if (vm.huge_page_size > Bytes{}) {
    backing +=
        fmt::format("    <hugepages>\n      <page size='{}' unit='KiB'/>\n    </hugepages>\n",
                    vm.huge_page_size.value / kKiB.value);
  }
  backing += vm.memory_locked ? "    <locked/>\n" : "";
  return backing.empty() ? "" : "  <memoryBacking>\n" + backing + "  </memoryBacking>\n";
}

std::string devices(const AdviceRequest& request) {
  std::string text;
  for (std::int32_t disk = 0; disk < request.virtio_disks; ++disk) {
    text += fmt::format(
        "    <disk type='file' device='disk'>\n      <source file='/disk{}'/>\n"
        "      <target dev='vd{}' bus='virtio'/>\n    </disk>\n",
        disk, static_cast<char>('a' + disk % 26));
  }
  for (std::size_t device = 0; device < request.vm.pci_devices.size(); ++device) {
    text += fmt::format(
        "    <hostdev mode='subsystem' type='pci' managed='yes'>\n      <source>\n"
        "        <address domain='0x0000' bus='0x3b' slot='0x{:02x}' function='0x0'/>\n"
        "      </source>\n    </hostdev>\n",
        device);
  }
  return text.empty() ? "" : "  <devices>\n" + text + "  </devices>\n";
}

struct Definition {
  AdviceRequest request;
  Advice advice;
  std::string advised;
};

/// Returns whether a parsed VM has what was advised.
bool is_as_advised(const VmDescription& vm, const Advice& advice) {
  const auto same = [](const GuestCell& a, const GuestCell& b) {
    return a.id == b.id && a.vcpus == b.vcpus && a.memory == b.memory;
  };
  return vm.sockets == advice.sockets && vm.dies == advice.dies && vm.cores == advice.cores &&
         vm.threads == advice.threads && vm.max_memory == advice.memory &&
         std::equal(vm.cells.begin(), vm.cells.end(), advice.cells.begin(), advice.cells.end(),
                    same) &&
         vm.numatune_auto == (advice.binding == AdvisedBinding::kAuto) &&
         vm.numatune_nodes == advice.nodes &&
         vm.io_threads.size() == static_cast<std::size_t>(advice.io_threads) &&
         vm.io_thread_pins == advice.io_thread_pins;
}

Result<Definition> advise_once(const std::string& xml, const VmPolicy& policy,
                               const AdviceHost& host) {
  Definition definition;
  VMNUMA_ASSIGN_OR_RETURN(auto request, balancer::read_advice_request(xml, kMiB * 2));
  definition.request = std::move(request);
  definition.request.vm.policy = policy;
  VMNUMA_ASSIGN_OR_RETURN(auto advice, advise(definition.request, host));
  definition.advice = std::move(advice);
  return balancer::advised_xml(xml, definition.advice).map([&](std::string advised) {
    definition.advised = std::move(advised);
    return std::move(definition);
  });
}

}  // namespace

std::string definition_of(const AdviceRequest& request) {
  const VmDescription& vm = request.vm;
  return fmt::format(
      "<domain type='kvm'>\n  <name>{}</name>\n"
      "  <uuid>3f2504e0-4f89-41d3-9a0c-0305e82c3301</uuid>\n{}"
      "  <memory {}/memory>\n{}  <vcpu current='{}'>{}</vcpu>\n{}{}"
      "  <os>\n    <type arch='{}'>hvm</type>\n  </os>\n{}</domain>\n",
      vm.name,
      request.memory_hotplug
          ? fmt::format("  <maxMemory slots='4' {}/maxMemory>\n", kib(vm.max_memory * 2))
          : "",
      kib(vm.max_memory), memory_backing(vm), vm.vcpus.size(), vm.max_vcpus, cpu_tune(vm),
      numa_tune(vm), request.is_x86 ? "x86_64" : "aarch64", devices(request));
}

Result<std::string> advised_definition(const std::string& xml, const VmPolicy& policy,
                                       const AdviceHost& host) {
  return advise_once(xml, policy, host)
      .and_then([&](const Definition& first) -> Result<std::string> {
        const auto second = advise_once(first.advised, policy, host);
        if (!second) {
          return failure(second.error(), "of what was advised");
        }
        if (!is_as_advised(second->request.vm, first.advice)) {
          return failure(ErrorCode::kCorrupt,
                         "what was advised is understood otherwise:\n" + first.advised);
        }
        if (second->advised != first.advised) {
          return failure(ErrorCode::kCorrupt, "what was advised is changed again, from\n" +
                                                  first.advised + "to\n" + second->advised);
        }
        return first.advised;
      });
}

}  // namespace vmnuma::tests
