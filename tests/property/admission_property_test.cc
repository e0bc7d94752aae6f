// SPDX-License-Identifier: Apache-2.0
/// What admission.h promises, held against trying all sets of nodes.
#include <algorithm>
#include <bit>
#include <numeric>

#include "placement/admission.h"
#include "tests/property/any_host.h"
#include "tests/support/build_snapshot.h"

namespace vmnuma {
namespace {

using tests::Draw;

struct AdmissionCase {
  Topology topology;
  AdmissionRequest request;
};

AdmissionCase any_admission(NodeIndex most_nodes) {
  Draw draw(*rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, 1U << 30U)), 0);
  const auto nodes = static_cast<NodeIndex>(draw.between(1, static_cast<std::int64_t>(most_nodes)));
  AdmissionCase drawn{tests::equal_nodes(static_cast<std::int32_t>(nodes), 4, 1, 16), {}};
  AdmissionRequest& request = drawn.request;
  constexpr TopologyPolicy kPolicies[] = {TopologyPolicy::kNone, TopologyPolicy::kBestEffort,
                                          TopologyPolicy::kRestricted,
                                          TopologyPolicy::kSingleNumaNode};
  request.policy = kPolicies[draw.between(0, 3)];
  request.prefer_closest = draw.one_in(2);
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (!draw.one_in(6)) {
      request.allowed.push_back(node);
    }
    if (draw.one_in(8)) {
      request.devices.push_back(node);
    }
    request.load.push_back(draw.up_to(1000));
  }
  const std::int64_t resources = draw.between(1, 4);
  for (std::int64_t r = 0; r < resources; ++r) {
    NodeResource resource{"units", draw.up_to(150), {}, {}};
    for (NodeIndex node = 0; node < nodes; ++node) {
      resource.capacity.push_back(draw.between(1, 100));
      resource.available.push_back(draw.up_to(resource.capacity.back()));
    }
    request.resources.push_back(std::move(resource));
  }
  return drawn;
}

bool is_enough(const AdmissionRequest& request, const std::vector<NodeIndex>& nodes) {
  return std::includes(nodes.begin(), nodes.end(), request.devices.begin(),
                       request.devices.end()) &&
         std::all_of(request.resources.begin(), request.resources.end(),
                     [&](const NodeResource& resource) {
                       std::int64_t sum = 0;
                       for (const NodeIndex node : nodes) {
                         sum += resource.available[node];
                       }
                       return sum >= resource.asked;
                     });
}

/// The size of the narrowest set that is enough, by trying all; 0 if there is none.
std::size_t narrowest(const AdmissionRequest& request) {
  std::size_t best = 0;
  for (std::uint32_t mask = 1; mask < 1U << request.allowed.size(); ++mask) {
    std::vector<NodeIndex> nodes;
    for (std::size_t i = 0; i < request.allowed.size(); ++i) {
      if ((mask >> i & 1U) != 0) {
        nodes.push_back(request.allowed[i]);
      }
    }
    if (is_enough(request, nodes) && (best == 0 || nodes.size() < best)) {
      best = nodes.size();
    }
  }
  return best;
}

RC_GTEST_PROP(AdmissionProperty, TheAnswerIsInEveryProvidersHintsAndNoneIsNarrower, ()) {
  AdmissionCase drawn = any_admission(10);
  AdmissionRequest& request = drawn.request;
  if (request.policy == TopologyPolicy::kNone) {
    request.policy = TopologyPolicy::kBestEffort;
  }
  const Admission admission = admit(drawn.topology, request);
  const std::size_t best = narrowest(request);
  RC_ASSERT(admission.enough == (best > 0));
  RC_ASSERT(std::is_sorted(admission.nodes.begin(), admission.nodes.end()));
  RC_ASSERT(std::includes(request.allowed.begin(), request.allowed.end(), admission.nodes.begin(),
                          admission.nodes.end()));
  if (best > 0) {
    RC_ASSERT(is_enough(request, admission.nodes));
    RC_ASSERT(admission.nodes.size() == best);
  }
}

RC_GTEST_PROP(AdmissionProperty, PoliciesAdmitWhatTheySay, ()) {
  AdmissionCase drawn = any_admission(8);
  const Admission admission = admit(drawn.topology, drawn.request);
  switch (drawn.request.policy) {
    case TopologyPolicy::kNone:
    case TopologyPolicy::kBestEffort:
      RC_ASSERT(admission.admitted);
      break;
    case TopologyPolicy::kRestricted:
      RC_ASSERT(admission.admitted == (admission.enough && admission.preferred));
      break;
    case TopologyPolicy::kSingleNumaNode:
      RC_ASSERT(admission.admitted == (narrowest(drawn.request) == 1));
      break;
  }
}

RC_GTEST_PROP(AdmissionProperty, WithMoreFreeWhatWasAdmittedStillIs, ()) {
  AdmissionCase drawn = any_admission(8);
  if (!admit(drawn.topology, drawn.request).admitted) {
    return;
  }
  for (NodeResource& resource : drawn.request.resources) {
    resource.available = resource.capacity;
  }
  RC_ASSERT(admit(drawn.topology, drawn.request).admitted);
}

RC_GTEST_PROP(AdmissionProperty, RenumberingTheNodesRenumbersTheAnswer, ()) {
  AdmissionCase drawn = any_admission(8);
  AdmissionRequest& request = drawn.request;
  const std::size_t count = drawn.topology.nodes.size();
  // Loads whose sums over different sets differ leave nothing to the turn.
  for (std::size_t node = 0; node < count; ++node) {
    request.load[node] = std::int64_t{1} << node;
  }
  request.prefer_closest = false;
  const Admission before = admit(drawn.topology, request);
  // Node n becomes count - 1 - n.
  const auto renumbered = [count](std::vector<NodeIndex> nodes) {
    for (NodeIndex& node : nodes) {
      node = count - 1 - node;
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  request.allowed = renumbered(request.allowed);
  request.devices = renumbered(request.devices);
  std::reverse(request.load.begin(), request.load.end());
  for (NodeResource& resource : request.resources) {
    std::reverse(resource.available.begin(), resource.available.end());
    std::reverse(resource.capacity.begin(), resource.capacity.end());
  }
  const Admission after = admit(drawn.topology, request);
  RC_ASSERT(after.admitted == before.admitted);
  RC_ASSERT(after.preferred == before.preferred);
  RC_ASSERT(after.nodes == renumbered(before.nodes));
}

RC_GTEST_PROP(AdmissionProperty, TheTurnGoesRoundAllEqualNodes, ()) {
  const auto nodes = *rc::gen::inRange<NodeIndex>(1, 12);
  AdmissionRequest request;
  request.policy = TopologyPolicy::kSingleNumaNode;
  NodeResource resource{"units", 1, {}, {}};
  for (NodeIndex node = 0; node < nodes; ++node) {
    request.allowed.push_back(node);
    resource.available.push_back(5);
    resource.capacity.push_back(5);
  }
  request.resources = {resource};
  const Topology topology = tests::equal_nodes(static_cast<std::int32_t>(nodes), 4, 1, 16);
  std::vector<NodeIndex> chosen;
  for (NodeIndex i = 0; i < nodes; ++i) {
    request.last = admit(topology, request).nodes.front();
    chosen.push_back(request.last);
  }
  RC_ASSERT(chosen == request.allowed);
}

}  // namespace
}  // namespace vmnuma
