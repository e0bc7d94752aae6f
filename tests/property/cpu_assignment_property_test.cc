// SPDX-License-Identifier: Apache-2.0
/// What cpu_assignment.h promises.
#include <algorithm>
#include <map>
#include <set>

#include "placement/cpu_assignment.h"
#include "placement/exclusive_cores.h"
#include "tests/property/any_host.h"

namespace vmnuma {
namespace {

using tests::Draw;

struct AssignmentCase {
  Node node;
  std::vector<CpuRequest> requests;
};

std::uint64_t any_seed() {
  return *rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U));
}

/// Cores of one or two threads in one to four caches; the kernel numbers first threads first.
Node any_node(Draw& draw) {
  Node node;
  node.id = NodeId{static_cast<std::int32_t>(draw.up_to(3))};
  const auto caches = static_cast<std::int32_t>(draw.between(1, 4));
  const auto cores = caches * static_cast<std::int32_t>(draw.between(1, 6));
  const auto threads = static_cast<std::int32_t>(draw.between(1, 2));
  for (std::int32_t thread = 0; thread < threads; ++thread) {
    for (std::int32_t core = 0; core < cores; ++core) {
      const bool is_offline = thread > 0 && draw.one_in(20);
      if (!is_offline) {
        node.cpus.push_back({CpuId{thread * cores + core}, core, core * caches / cores});
      }
    }
  }
  return node;
}

CpuRequest any_request(Draw& draw, std::int32_t number) {
  CpuRequest request;
  request.client.vm.uuid[15] = static_cast<std::uint8_t>(number);
  request.vcpus =
      static_cast<std::int32_t>(draw.one_in(4) ? draw.between(1, 12) : draw.between(1, 3));
  request.binding = static_cast<CpuBinding>(draw.up_to(2));
  request.policy = static_cast<CpuPolicy>(draw.up_to(2));
  request.cpu_class = draw.one_in(2) ? CpuClass::kNone : static_cast<CpuClass>(draw.up_to(2));
  request.load = CpuTime{draw.up_to(2) * 1'000'000};
  return request;
}

AssignmentCase any_case(Draw& draw) {
  AssignmentCase drawn{any_node(draw), {}};
  const auto clients = static_cast<std::int32_t>(draw.up_to(8));
  for (std::int32_t number = 0; number < clients; ++number) {
    drawn.requests.push_back(any_request(draw, number));
  }
  return drawn;
}

FormerCpus former_of(const std::vector<CpuGrant>& grants) {
  FormerCpus former;
  for (const CpuGrant& grant : grants) {
    former[grant.client] = {grant.cpus, grant.exclusive_cores > 0};
  }
  return former;
}

std::set<std::int32_t> cores_of(const Node& node, const std::vector<CpuId>& cpus) {
  std::set<std::int32_t> cores;
  for (const Cpu& cpu : node.cpus) {
    if (std::binary_search(cpus.begin(), cpus.end(), cpu.id)) {
      cores.insert(cpu.core);
    }
  }
  return cores;
}

std::set<std::int32_t> caches_of(const Node& node, const std::vector<CpuId>& cpus) {
  std::set<std::int32_t> caches;
  for (const Cpu& cpu : node.cpus) {
    if (std::binary_search(cpus.begin(), cpus.end(), cpu.id)) {
      caches.insert(cpu.last_level_cache);
    }
  }
  return caches;
}

std::size_t threads_on(const Node& node, const std::set<std::int32_t>& cores) {
  return static_cast<std::size_t>(
      std::count_if(node.cpus.begin(), node.cpus.end(),
                    [&](const Cpu& cpu) { return cores.contains(cpu.core); }));
}

std::size_t count_of(const CpuRequest& request, const Node& node) {
  return static_cast<std::size_t>(cores_for(request.policy, request.vcpus, node));
}

/// A few arrivals and departures, so that what was kept is not what would be given anew.
struct Story {
  AssignmentCase last;
  std::vector<CpuGrant> grants;
};
Story any_story() {
  Draw draw(any_seed(), 0);
  Story story{any_case(draw), {}};
  story.grants = assign_cpus(story.last.node, story.last.requests, {});
  const std::int64_t events = draw.up_to(5);
  for (std::int64_t event = 0; event < events; ++event) {
    std::vector<CpuRequest>& requests = story.last.requests;
    if (!requests.empty() && draw.one_in(2)) {
      const std::int64_t which = draw.up_to(static_cast<std::int64_t>(requests.size()) - 1);
      requests.erase(requests.begin() + which);
    } else {
      requests.push_back(any_request(draw, static_cast<std::int32_t>(100 + event)));
    }
    story.grants = assign_cpus(story.last.node, requests, former_of(story.grants));
  }
  std::sort(story.last.requests.begin(), story.last.requests.end(),
            [](const CpuRequest& a, const CpuRequest& b) { return a.client < b.client; });
  return story;
}

RC_GTEST_PROP(CpuAssignmentProperty, EveryClientGetsCpusOfTheNode, ()) {
  const Story story = any_story();
  RC_ASSERT(story.grants.size() == story.last.requests.size());
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuGrant& grant = story.grants[i];
    RC_ASSERT(grant.client == story.last.requests[i].client);
    RC_ASSERT(!grant.cpus.empty());
    RC_ASSERT(std::is_sorted(grant.cpus.begin(), grant.cpus.end()));
    for (const CpuId cpu : grant.cpus) {
      RC_ASSERT(std::count_if(story.last.node.cpus.begin(), story.last.node.cpus.end(),
                              [&](const Cpu& one) { return one.id == cpu; }) == 1);
    }
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, WithoutPoliciesEveryClientHasTheNode, ()) {
  Draw draw(any_seed(), 0);
  AssignmentCase drawn = any_case(draw);
  for (CpuRequest& request : drawn.requests) {
    request.binding = CpuBinding::kNode;
    request.cpu_class = CpuClass::kNone;
  }
  for (const CpuGrant& grant : assign_cpus(drawn.node, drawn.requests, {})) {
    RC_ASSERT(grant.cpus.size() == drawn.node.cpus.size());
    RC_ASSERT(grant.exclusive_cores == 0);
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, OwnCoresBelongToOneClientAndOneCoreIsLeft, ()) {
  const Story story = any_story();
  const Node& node = story.last.node;
  std::set<std::int32_t> owned;
  for (const CpuGrant& grant : story.grants) {
    if (grant.exclusive_cores == 0) {
      continue;
    }
    const std::set<std::int32_t> cores = cores_of(node, grant.cpus);
    RC_ASSERT(cores.size() == static_cast<std::size_t>(grant.exclusive_cores));
    owned.insert(cores.begin(), cores.end());
    for (const CpuGrant& other : story.grants) {
      for (const std::int32_t core : cores_of(node, other.cpus)) {
        RC_ASSERT(&other == &grant || !cores.contains(core));
      }
    }
  }
  RC_ASSERT(owned.size() + 1 <= static_cast<std::size_t>(node.core_count()));
}

RC_GTEST_PROP(CpuAssignmentProperty, OwnCoresAreRefusedOnlyIfThereAreTooFew, ()) {
  const Story story = any_story();
  std::int32_t given = 0;
  for (const CpuGrant& grant : story.grants) {
    given += grant.exclusive_cores;
  }
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuRequest& request = story.last.requests[i];
    const CpuGrant& grant = story.grants[i];
    const bool asked = request.binding == CpuBinding::kExclusive;
    RC_ASSERT(asked || grant.refused.empty());
    RC_ASSERT(asked == (grant.exclusive_cores > 0 || !grant.refused.empty()));
    if (!grant.refused.empty()) {
      RC_ASSERT(static_cast<std::int32_t>(count_of(request, story.last.node)) + given + 1 >
                story.last.node.core_count());
      RC_ASSERT(grant.refused.find(std::to_string(count_of(request, story.last.node))) !=
                std::string::npos);
    }
  }
}

bool is_picker(const CpuRequest& request, const CpuGrant& grant) {
  return grant.exclusive_cores > 0 ||
         (request.binding == CpuBinding::kShare && request.policy != CpuPolicy::kNone);
}

RC_GTEST_PROP(CpuAssignmentProperty, APolicySaysHowManyCoresAndThreads, ()) {
  const Story story = any_story();
  const Node& node = story.last.node;
  std::int32_t given = 0;
  for (const CpuGrant& grant : story.grants) {
    given += grant.exclusive_cores;
  }
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuRequest& request = story.last.requests[i];
    const CpuGrant& grant = story.grants[i];
    if (!is_picker(request, grant)) {
      continue;
    }
    const std::set<std::int32_t> cores = cores_of(node, grant.cpus);
    const std::size_t asked = count_of(request, node);
    const auto shared = static_cast<std::size_t>(node.core_count() - given);
    RC_ASSERT(cores.size() == (grant.exclusive_cores > 0 ? asked : std::min(asked, shared)));
    if (request.policy == CpuPolicy::kSpreadByPCPUs && cores.size() == asked) {
      RC_ASSERT(grant.cpus.size() == cores.size());
    } else {
      RC_ASSERT(grant.cpus.size() == threads_on(node, cores));
    }
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, PickersShareNoCoreWhileThereAreCoresForAll, ()) {
  const Story story = any_story();
  const Node& node = story.last.node;
  std::size_t asked = 1;
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    if (is_picker(story.last.requests[i], story.grants[i])) {
      asked += count_of(story.last.requests[i], node);
    }
  }
  RC_PRE(asked <= static_cast<std::size_t>(node.core_count()));
  std::map<std::int32_t, int> users;
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    if (is_picker(story.last.requests[i], story.grants[i])) {
      for (const std::int32_t core : cores_of(node, story.grants[i].cpus)) {
        RC_ASSERT(++users[core] == 1);
      }
    }
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, AClientThatSharesIsConfinedToOneCacheIfItFits, ()) {
  const Story story = any_story();
  const Node& node = story.last.node;
  std::set<CpuId> owned;
  for (const CpuGrant& grant : story.grants) {
    if (grant.exclusive_cores > 0) {
      const std::set<std::int32_t> cores = cores_of(node, grant.cpus);
      for (const Cpu& cpu : node.cpus) {
        if (cores.contains(cpu.core)) {
          owned.insert(cpu.id);
        }
      }
    }
  }
  std::map<std::int32_t, std::int32_t> shared;  // CPUs by cache
  for (const Cpu& cpu : node.cpus) {
    shared[cpu.last_level_cache] += owned.contains(cpu.id) ? 0 : 1;
  }
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuRequest& request = story.last.requests[i];
    if (request.binding != CpuBinding::kShare || request.policy != CpuPolicy::kNone) {
      continue;
    }
    const bool fits = std::any_of(shared.begin(), shared.end(),
                                  [&](const auto& cache) { return cache.second >= request.vcpus; });
    const auto caches = caches_of(node, story.grants[i].cpus);
    RC_ASSERT(!fits || caches.size() == 1);
    RC_ASSERT(static_cast<std::int32_t>(story.grants[i].cpus.size()) >= request.vcpus || !fits ||
              request.cpu_class == CpuClass::kBatch);
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, TheSameClientsKeepWhatTheyHave, ()) {
  const Story story = any_story();
  RC_ASSERT(assign_cpus(story.last.node, story.last.requests, former_of(story.grants)) ==
            story.grants);
}

RC_GTEST_PROP(CpuAssignmentProperty, AClientWithCoresOfItsOwnKeepsThemWhenAnotherComes, ()) {
  Story story = any_story();
  Draw draw(any_seed(), 1);
  story.last.requests.push_back(any_request(draw, draw.one_in(2) ? 50 : 200));
  const std::vector<CpuGrant> after =
      assign_cpus(story.last.node, story.last.requests, former_of(story.grants));
  for (const CpuGrant& grant : story.grants) {
    if (grant.exclusive_cores > 0) {
      RC_ASSERT(std::find(after.begin(), after.end(), grant) != after.end());
    }
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, TheOrderOfTheClientsDoesNotMatter, ()) {
  const Story story = any_story();
  std::vector<CpuRequest> reversed = story.last.requests;
  std::reverse(reversed.begin(), reversed.end());
  RC_ASSERT(assign_cpus(story.last.node, reversed, former_of(story.grants)) == story.grants);
}

RC_GTEST_PROP(CpuAssignmentProperty, AClientThatComesWithoutOwnCoresChangesNoOthersCpus, ()) {
  Story story = any_story();
  Draw draw(any_seed(), 1);
  CpuRequest coming = any_request(draw, 200);
  RC_PRE(coming.binding != CpuBinding::kExclusive && coming.cpu_class == CpuClass::kNone);
  story.last.requests.push_back(coming);
  const std::vector<CpuGrant> after =
      assign_cpus(story.last.node, story.last.requests, former_of(story.grants));
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    RC_ASSERT(after[i] == story.grants[i]);
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, AClientThatGoesLeavesPickersWhereTheyWereAlone, ()) {
  Story story = any_story();
  RC_PRE(!story.last.requests.empty());
  Draw draw(any_seed(), 1);
  const auto which = static_cast<std::size_t>(
      draw.up_to(static_cast<std::int64_t>(story.last.requests.size()) - 1));
  RC_PRE(story.last.requests[which].cpu_class != CpuClass::kLatency);
  RC_PRE(std::all_of(story.grants.begin(), story.grants.end(),
                     [](const CpuGrant& grant) { return grant.refused.empty(); }));
  std::map<std::int32_t, int> users;
  const auto pickers = [&](std::size_t i) {
    return is_picker(story.last.requests[i], story.grants[i]);
  };
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    for (const std::int32_t core : cores_of(story.last.node, story.grants[i].cpus)) {
      users[core] += pickers(i) ? 1 : 0;
    }
  }
  std::vector<CpuRequest> left = story.last.requests;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(which));
  const std::vector<CpuGrant> after = assign_cpus(story.last.node, left, former_of(story.grants));
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    if (i == which || !pickers(i) || story.last.requests[i].cpu_class == CpuClass::kBatch) {
      continue;
    }
    const auto cores = cores_of(story.last.node, story.grants[i].cpus);
    const bool was_alone = std::all_of(cores.begin(), cores.end(),
                                       [&](std::int32_t core) { return users[core] == 1; });
    const bool had_all = cores.size() == count_of(story.last.requests[i], story.last.node);
    if (was_alone && had_all) {
      RC_ASSERT(after[i < which ? i : i - 1] == story.grants[i]);
    }
  }
}

RC_GTEST_PROP(CpuAssignmentProperty, BatchKeepsOffLatencyCoresWhileTheRestHoldsIt, ()) {
  const Story story = any_story();
  const Node& node = story.last.node;
  std::set<std::int32_t> latency;
  std::set<std::int32_t> taken;
  std::int32_t batch = 0;
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuRequest& request = story.last.requests[i];
    const auto cores = cores_of(node, story.grants[i].cpus);
    if (is_picker(request, story.grants[i])) {
      (request.cpu_class == CpuClass::kLatency ? latency : taken)
          .insert(cores.begin(), cores.end());
    }
    batch += request.cpu_class == CpuClass::kBatch ? request.vcpus : 0;
  }
  // The cores that no picker has hold all batch vCPUs, one each.
  std::set<std::int32_t> rest;
  for (const Cpu& cpu : node.cpus) {
    if (!latency.contains(cpu.core) && !taken.contains(cpu.core)) {
      rest.insert(cpu.core);
    }
  }
  RC_PRE(static_cast<std::int32_t>(rest.size()) >= batch);
  for (std::size_t i = 0; i < story.grants.size(); ++i) {
    const CpuRequest& request = story.last.requests[i];
    if (request.cpu_class != CpuClass::kBatch || request.binding != CpuBinding::kNode) {
      continue;
    }
    for (const std::int32_t core : cores_of(node, story.grants[i].cpus)) {
      RC_ASSERT(!latency.contains(core));
    }
  }
}

}  // namespace
}  // namespace vmnuma
