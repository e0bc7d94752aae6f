// SPDX-License-Identifier: Apache-2.0
/// The fields of what outlives the daemon, listed once for writing and reading: the file for the
/// hook (admission_state.h), and what is stored in the history (service/remembered.h). Recordings
/// have some of these lists as well (balancer/record/fields.h).
///
/// Properties: a field that is missing is an error; numbers are not negative, and no amount is so
/// large that a sum of some overflows, except for limits of cgroups, which may be "max".
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "balancer/controller/admission_state.h"
#include "balancer/controller/memory_steering.h"
#include "balancer/controller/originals.h"
#include "balancer/core/reservations.h"
#include "balancer/core/starting_vms.h"
#include "placement/model/sample.h"
#include "placement/model/text.h"
#include "stats/text/archive.h"

namespace vmnuma::balancer {

using text::MaybeConst;

// ---- promises ----

void visit_kept(auto& fields, MaybeConst<MemoryOnNode> auto& part) {
  fields("node", part.node);
  fields("page_size", part.page_size);
  fields("memory", part.memory);
}
void visit_kept(auto& fields, MaybeConst<SharedPart> auto& part) {
  fields("vm", part.vm);
  fields("name", part.name);
  fields("vcpus", part.vcpus);
  fields("memory", part.memory);
}
void visit_kept(auto& fields, MaybeConst<Reservation> auto& reservation) {
  fields("name", reservation.name);
  fields("vm", reservation.vm);
  fields("vm_id", reservation.vm_id);
  fields("group", reservation.group);
  fields("vcpus", reservation.vcpus);
  fields("homes", reservation.homes);
  fields("memory", reservation.memory);
  fields("until_unix_s", reservation.until_unix_s);
  fields("served", reservation.served);
  fields("owner", reservation.owner);
  fields("shared", reservation.shared);
  fields("taken", reservation.taken);
  fields("lasting", reservation.lasting);
}
/// Of its description, what counts until it has appeared; parse_admission() adds the rest.
template <class Fields, MaybeConst<StartingVm> T>
void visit_kept(Fields& fields, T& starting) {
  auto& vm = starting.description;
  auto vcpus = static_cast<std::int32_t>(vm.vcpus.size());
  fields("vm", vm.id);
  fields("vcpus", vcpus);
  fields("memory", vm.max_memory);
  fields("page_size", vm.huge_page_size);
  fields("memory_class", vm.policy.memory_class);
  fields("homes", starting.homes);
  fields("nodes", starting.nodes);
  fields("promised", starting.memory);
  if constexpr (!std::is_const_v<T>) {
    vm.max_vcpus = vcpus;
  }
}
void visit_kept(auto& fields, MaybeConst<AdmissionState::Pool> auto& pool) {
  fields("page_size", pool.page_size);
  fields("promised", pool.promised);
}
void visit_kept(auto& fields, MaybeConst<AdmissionState::Node> auto& node) {
  fields("node", node.id);
  fields("cpus", node.cpus);
  fields("free_cores", node.free_cores);
  fields("cores", node.cores);
  fields("reserve", node.reserve);
  fields("promised", node.promised);
  fields("pools", node.pools);
}
void visit_kept(auto& fields, MaybeConst<StampedAdmission> auto& admission) {
  fields("written_unix_s", admission.stamp.written_unix_s);
  fields("boot_id", admission.stamp.boot_id);
  fields("enforces", admission.state.enforces);
  fields("nodes", admission.state.nodes);
  fields("expected", admission.state.expected);
  fields("reservations", admission.state.reservations);
}

// ---- how VMs and cgroups were found ----

void visit_kept(auto& fields, MaybeConst<VmProcess> auto& process) {
  fields("pid", process.pid);
  fields("start_time_ticks", process.start_time_ticks);
}
void visit_kept(auto& fields, MaybeConst<ThreadId> auto& thread) {
  fields("kind", thread.kind);
  fields("number", thread.number);
}
void visit_kept(auto& fields, MaybeConst<Original::Pins> auto& pins) {
  fields("found", pins.found);
  fields("ours", pins.ours);
}
void visit_kept(auto& fields, MaybeConst<Original> auto& original) {
  fields("process", original.process);
  fields("threads", original.threads);
  fields("memory_nodes", original.memory_nodes);
}
void visit_kept(auto& fields, MaybeConst<MemoryLimits> auto& limits) {
  fields.unbounded("min", limits.min);
  fields.unbounded("low", limits.low);
  fields.unbounded("high", limits.high);
  fields.unbounded("max", limits.max);
  fields.unbounded("swap_max", limits.swap_max);
}
void visit_kept(auto& fields, MaybeConst<MemoryOriginal> auto& original) {
  fields("vm", original.vm);
  fields("process", original.process);
  fields("found", original.found);
  fields("before", original.before);
  fields("ours", original.ours);
}

// ---- the format ----

/// Writes lists of CPUs as text, which is compact: "0-65535".
template <class Json>
class KeptWriter : public text::FieldWriter<KeptWriter<Json>, Json> {
 public:
  static void visit(KeptWriter& fields, const auto& value) { visit_kept(fields, value); }
  void unbounded(std::string_view name, const auto& value) { (*this)(name, value); }
  [[nodiscard]] static Json leaf(const std::vector<CpuId>& cpus) { return to_list(cpus); }

  /// An object with one member.
  [[nodiscard]] Json object_of(std::string_view name, const auto& value) const {
    Json object;
    object[std::string(name)] = this->json_of(value);
    return object;
  }
};

template <class Json>
class KeptReader : public text::FieldReader<KeptReader<Json>, Json> {
  using Base = text::FieldReader<KeptReader<Json>, Json>;

 public:
  explicit KeptReader(const Json& object) : Base(object) {}
  KeptReader(const KeptReader& /*around*/, const Json& object) : Base(object) {}

  static void visit(KeptReader& fields, auto& value) { visit_kept(fields, value); }
  void absent(std::string_view name) { this->note(name, "is missing"); }
  void unbounded(std::string_view name, auto& value) {
    is_bounded_ = false;
    (*this)(name, value);
    is_bounded_ = true;
  }
  template <std::signed_integral T>
  [[nodiscard]] bool leaf(const Json& json, T& number) {
    return this->usual(json, number) && number >= 0 &&
           (!is_bounded_ || number <= std::numeric_limits<T>::max() / 4);
  }
  [[nodiscard]] bool leaf(const Json& json, std::vector<CpuId>& cpus) {
    std::string text;
    if (!this->usual(json, text)) {
      return false;
    }
    auto parsed = parse_cpu_list(text);
    if (!parsed) {
      return false;
    }
    cpus = std::move(*parsed);
    return true;
  }

 private:
  bool is_bounded_ = true;
};

}  // namespace vmnuma::balancer
