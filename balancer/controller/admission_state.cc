// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/admission_state.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/controller/kept_fields.h"
#include "placement/model/text.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 2;
constexpr std::int32_t kMostVcpusOfAVm = 4096;

tl::unexpected<Error> corrupt(std::string_view what) {
  return failure(ErrorCode::kCorrupt, fmt::format("the admission state {}", what));
}

bool is_possible(const StartingVm& starting) {
  return starting.description.max_vcpus > 0 && starting.description.max_vcpus <= kMostVcpusOfAVm;
}

/// Adds what follows from the fields that were read.
void complete(StartingVm& starting) {
  VmDescription& vm = starting.description;
  // Its name is unknown; this one must not match a VM that asks without a name.
  vm.name = to_text(vm.id);
  set_size(vm, vm.max_vcpus, vm.max_memory);
  if (vm.policy.memory_class != MemoryClass::kNone) {
    vm.own_policy = {{"memory_class", std::string(name_of(vm.policy.memory_class))}};
  }
  starting.asks = false;
}

}  // namespace

bool StampedAdmission::is_fresh(const AdmissionStamp& now) const {
  const std::int64_t age_s = now.written_unix_s - stamp.written_unix_s;
  return !now.boot_id.empty() && stamp.boot_id == now.boot_id && age_s >= 0 &&
         age_s <= kAdmissionFreshFor_s;
}

std::string to_text(const AdmissionState& state, const AdmissionStamp& stamp) {
  Json json;
  json["version"] = kVersion;
  json.update(KeptWriter<Json>().write(StampedAdmission{state, stamp}));
  return text::json_text(json) + "\n";
}

Result<StampedAdmission> parse_admission(std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(
      const auto json, text::read_json<Json>(text, {kMostAdmissionBytes}, "the admission state"));
  if (json.value("version", Json()) != kVersion) {
    return corrupt("is of another version");
  }
  StampedAdmission read;
  if (auto all = KeptReader<Json>(json).read(read); !all) {
    return failure(std::move(all).error(), "the admission state");
  }
  std::vector<StartingVm>& expected = read.state.expected;
  if (expected.size() > StartingVms::kMostStarting ||
      read.state.reservations.size() > Reservations::kMost ||
      !std::ranges::all_of(expected, is_possible)) {
    return corrupt("is not possible");
  }
  std::ranges::for_each(expected, complete);
  return read;
}

}  // namespace vmnuma::balancer
