// SPDX-License-Identifier: Apache-2.0
/// What advice.h promises, on generated hosts and VMs. tests/support/advice_promises.h has the
/// promises.
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "placement/advice/advice.h"
#include "placement/advice/common_host.h"
#include "tests/property/any_host.h"
#include "tests/support/advice_promises.h"
#include "tests/support/advised_definition.h"
#include "tests/support/property.h"
#include "tests/support/temp_directory.h"

namespace vmnuma {
namespace {

using tests::any_host;
using tests::AnyHost;
using tests::Draw;

struct AdviceCase {
  AdviceRequest request;
  AdviceHost host;
};

/// So many cores each have a last-level cache, or the rest of a node.
void divide_caches(Topology& topology, std::int32_t cores) {
  for (Node& node : topology.nodes) {
    for (Cpu& cpu : node.cpus) {
      const Cpu& first = node.cpus.front();
      cpu.last_level_cache = first.id.value + (cpu.core - first.core) / cores;
    }
  }
}

AdviceCase any_advice_case(const AnyHost& any) {
  Draw draw(any.seed, 977);
  AdviceCase drawn;
  drawn.host.topology = any.snapshot().topology;
  drawn.host.prefer_ht = draw.one_in(6);
  if (draw.one_in(2)) {
    divide_caches(drawn.host.topology, static_cast<std::int32_t>(draw.between(1, 8)));
  }
  VmDescription& vm = drawn.request.vm;
  vm.name = "guest";
  vm.max_vcpus = static_cast<std::int32_t>(draw.between(1, draw.one_in(3) ? 200 : 24));
  vm.vcpus.resize(
      static_cast<std::size_t>(draw.one_in(4) ? draw.between(1, vm.max_vcpus) : vm.max_vcpus));
  std::iota(vm.vcpus.begin(), vm.vcpus.end(), 0);
  vm.max_memory = (draw.one_in(8) ? kKiB : kMiB) * draw.between(1, 300'000);
  vm.memory = vm.max_memory;
  if (draw.one_in(3)) {
    vm.huge_page_size = draw.one_in(2) ? kGiB : kMiB * 2;
  }
  vm.memory_locked = draw.one_in(4);
  if (draw.one_in(4)) {
    vm.pci_devices = {{"0000:3b:00.0", NodeId{static_cast<std::int32_t>(draw.up_to(8))}}};
  }
  constexpr NumatuneMode kModes[] = {NumatuneMode::kStrict, NumatuneMode::kPreferred,
                                     NumatuneMode::kRestrictive};
  if (draw.one_in(3)) {
    vm.numatune = kModes[draw.up_to(2)];
    for (const Node& node : drawn.host.topology.nodes) {
      if (draw.one_in(2)) {
        vm.numatune_nodes.push_back(node.id);
      }
    }
    vm.numatune = vm.numatune_nodes.empty() ? NumatuneMode::kNone : vm.numatune;
  }
  if (draw.one_in(4)) {
    for (const Node& node : drawn.host.topology.nodes) {
      for (const Cpu& cpu : node.cpus) {
        const auto vcpu = static_cast<std::int32_t>(vm.vcpu_pins.size());
        if (vcpu < vm.max_vcpus) {
          vm.vcpu_pins.push_back({vcpu, {cpu.id}});
        }
      }
    }
  }
  vm.policy.consolidate = !draw.one_in(4);
  vm.policy.prefer_ht = draw.one_in(4);
  vm.policy.max_per_node = draw.one_in(5) ? static_cast<std::int32_t>(draw.between(1, 12)) : 0;
  if (draw.one_in(4)) {
    vm.policy.cpu_binding = CpuBinding::kExclusive;
    vm.policy.cpu_policy = CpuPolicy::kFullPCPUs;
  } else if (draw.one_in(6)) {
    vm.policy.cpu_binding = CpuBinding::kShare;
  }
  drawn.request.memory_hotplug = draw.one_in(5);
  drawn.request.virtio_disks = static_cast<std::int32_t>(draw.up_to(3));
  drawn.request.is_x86 = draw.one_in(2);
  return drawn;
}

/// Holds a promise against the advice for any VM on any host.
void expect_kept(tests::AdvicePromise promise) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  const auto advice = advise(drawn.request, drawn.host);
  RC_PRE(advice.has_value());
  if (const auto broken = promise(drawn.request, drawn.host, *advice)) {
    RC_FAIL(*broken);
  }
}

RC_GTEST_PROP(AdviceProperty, CellsHaveEveryVcpuOnceAndAllMemory, ()) {
  expect_kept(tests::wrong_cells);
}

RC_GTEST_PROP(AdviceProperty, EveryCellFitsANodeOrIsSaidNotTo, ()) {
  expect_kept(tests::silently_too_large);
}

RC_GTEST_PROP(AdviceProperty, SocketsMultiplyToTheVcpusAndLieInOneCell, ()) {
  expect_kept(tests::wrong_sockets);
}

RC_GTEST_PROP(AdviceProperty, AVmThatIsAsAdvisedIsAdvisedTheSame, ()) {
  expect_kept(tests::other_advice);
}

RC_GTEST_PROP(AdviceProperty, AVmThatIsAsAdvisedIsSplitIntoItsCells, ()) {
  expect_kept(tests::other_clients);
}

RC_GTEST_PROP(AdviceProperty, VcpusThatAreSaidToShareACacheDo, ()) {
  expect_kept(tests::untrue_caches);
}

RC_GTEST_PROP(AdviceProperty, ADefinitionAsAdvisedIsNotChangedAgain, ()) {
  const AdviceCase drawn = any_advice_case(*any_host(12, 0));
  RC_PRE(advise(drawn.request, drawn.host).has_value());
  const auto advised = tests::advised_definition(tests::definition_of(drawn.request),
                                                 drawn.request.vm.policy, drawn.host);
  if (!advised) {
    RC_FAIL(advised.error().message);
  }
}

TEST(AdvisedDefinitions, AreValidByTheSchema) {
  if (std::system("command -v virt-xml-validate >/dev/null") != 0) {  // NOLINT(cert-env33-c)
    GTEST_SKIP() << "there is no virt-xml-validate (libvirt-clients)";
  }
  constexpr int kDefinitions = 40;  // each takes a program that reads the whole schema
  const tests::TempDirectory directory;
  for (int i = 0; i < kDefinitions; ++i) {
    const AdviceCase drawn =
        any_advice_case({.nodes = 1 + i % 8, .seed = static_cast<std::uint64_t>(i)});
    const auto advised = tests::advised_definition(tests::definition_of(drawn.request),
                                                   drawn.request.vm.policy, drawn.host);
    ASSERT_TRUE(advised.has_value()) << advised.error().message;
    const std::string path = directory.path() + "/guest.xml";
    std::ofstream(path) << *advised;
    const std::string command = "virt-xml-validate " + path + " domain >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << *advised;  // NOLINT(cert-env33-c)
  }
}

RC_GTEST_PROP(AdviceProperty, WhatFitsTheCommonHostFitsEachHost, ()) {
  const AdviceCase one = any_advice_case(*any_host(8, 0));
  const AdviceCase other = any_advice_case(*any_host(8, 0));
  const AdviceHost common = common_host({one.host, other.host});
  RC_ASSERT(common == common_host({other.host, one.host}));
  for (const Node& least : common.topology.nodes) {
    for (const AdviceHost* host : {&one.host, &other.host}) {
      for (NodeIndex node = 0; node < host->topology.nodes.size(); ++node) {
        if (host->topology.can_be_home(node)) {
          RC_ASSERT(host->topology.nodes[node].core_count() >= least.core_count());
          RC_ASSERT(host->topology.nodes[node].cpu_count() >= least.cpu_count());
          RC_ASSERT(host->topology.nodes[node].memory >= least.memory);
        }
      }
    }
  }
}

}  // namespace
}  // namespace vmnuma
