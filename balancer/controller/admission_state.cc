// SPDX-License-Identifier: Apache-2.0
#include "balancer/controller/admission_state.h"

#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "placement/base/number.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

constexpr std::string_view kFirstLine = "vmnuma-admission 1";
constexpr std::string_view kNone = "-";
constexpr std::int32_t kMostVcpusOfAVm = 4096;

std::string in_order(const std::vector<NodeId>& nodes) {
  std::string text;
  for (const NodeId node : nodes) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", node.value);
  }
  return text.empty() ? std::string(kNone) : text;
}

/// Reads the words of a line in sequence. A missing or invalid word is noted and reads as zero.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(word.size() + 1, rest_.size()));
    good_ = good_ && !word.empty();
    return word;
  }
  /// A number from 0 to `most`.
  template <class Integer>
  Integer number(Integer most) {
    const auto number = whole_number<Integer>(word());
    good_ = good_ && number && *number >= 0 && *number <= most;
    return good_ ? *number : Integer{};
  }
  Bytes bytes() { return Bytes{number(std::numeric_limits<std::int64_t>::max() / 4)}; }
  NodeId node() { return NodeId{number(kMostNodeNumber)}; }
  std::vector<NodeId> nodes() {
    std::vector<NodeId> nodes;
    std::string_view list = word();
    while (good_ && list != kNone && !list.empty()) {
      Words one(list.substr(0, list.find(',')));
      list.remove_prefix(std::min(one.rest_.size() + 1, list.size()));
      nodes.push_back(one.node());
      good_ = good_ && one.good_;
    }
    return nodes;
  }
  VmId vm() {
    const Result<VmId> id = parse_vm_id(word());
    good_ = good_ && id.has_value();
    return id ? *id : VmId{};
  }
  /// The rest of the line; may be empty.
  std::string_view rest() { return std::exchange(rest_, {}); }
  void must_be(bool holds) { good_ = good_ && holds; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  static constexpr std::int32_t kMostNodeNumber = 1 << 20;

  std::string_view rest_;
  bool good_ = true;
};

AdmissionState::Node read_node(Words& words) {
  AdmissionState::Node node;
  node.id = words.node();
  constexpr std::int32_t kMostCpus = 1 << 20;
  node.cpus = words.number(kMostCpus);
  node.free_cores = words.number(kMostCpus);
  node.cores = words.number(kMostCpus);
  node.reserve = words.bytes();
  node.promised = words.bytes();
  return node;
}

StartingVm read_expected(Words& words) {
  StartingVm vm;
  vm.description.id = words.vm();
  // Its name is unknown; this one must not match a VM that asks without a name.
  vm.description.name = to_text(vm.description.id);
  const std::int32_t vcpus = words.number(kMostVcpusOfAVm);
  words.must_be(vcpus > 0);
  for (std::int32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    vm.description.vcpus.push_back(vcpu);
  }
  vm.description.max_vcpus = vcpus;
  vm.description.memory = vm.description.max_memory = words.bytes();
  vm.description.huge_page_size = words.bytes();
  if (words.word() == "guaranteed") {
    vm.description.own_policy = {{"memory_class", "guaranteed"}};
    vm.description.policy.memory_class = MemoryClass::kGuaranteed;
  }
  vm.homes = words.nodes();
  vm.nodes = words.nodes();
  vm.asks = false;
  return vm;
}

/// False for text that cannot be a name in a line.
bool is_line(std::string_view name) {
  return !name.empty() && name.find('\n') == std::string_view::npos;
}

std::string reservation_text(const Reservation& reservation) {
  std::string text = fmt::format(
      "reservation {}\n", reservation.vm_id ? to_text(*reservation.vm_id) : std::string(kNone));
  if (is_line(reservation.vm)) {
    text += fmt::format("for-vm {}\n", reservation.vm);
  }
  if (is_line(reservation.group)) {
    text += fmt::format("for-group {}\n", reservation.group);
  }
  if (is_line(reservation.owner)) {
    text += fmt::format("for-owner {}\n", reservation.owner);
  }
  for (const PromisedMemory& part : reservation.memory) {
    text += fmt::format("reserved {} {} {}\n", part.node.value, part.page_size.value,
                        part.memory.value);
  }
  return text;
}

/// Reads a line that belongs to a reservation; does nothing if it does not.
void read_reservation(std::string_view kind, Words& words, std::vector<Reservation>& all) {
  if (kind == "reservation") {
    all.emplace_back();
    words.must_be(all.size() <= Reservations::kMost);
    if (Words copy = words; copy.word() != kNone) {
      all.back().vm_id = words.vm();
    }
    return;
  }
  if (kind != "for-vm" && kind != "for-group" && kind != "for-owner" && kind != "reserved") {
    return;
  }
  words.must_be(!all.empty());
  if (!words.good()) {
    return;
  }
  if (kind == "for-vm") {
    all.back().vm = words.rest();
  } else if (kind == "for-group") {
    all.back().group = words.rest();
  } else if (kind == "for-owner") {
    all.back().owner = words.rest();
  } else {
    const NodeId node = words.node();
    const Bytes page_size = words.bytes();
    all.back().memory.push_back({node, page_size, words.bytes()});
  }
}

}  // namespace

bool StampedAdmission::is_fresh(const AdmissionStamp& now) const {
  const std::int64_t age_s = now.written_unix_s - stamp.written_unix_s;
  return !now.boot_id.empty() && stamp.boot_id == now.boot_id && age_s >= 0 &&
         age_s <= kAdmissionFreshFor_s;
}

std::string to_text(const AdmissionState& state, const AdmissionStamp& stamp) {
  std::string text = fmt::format(
      "{}\nwritten {} {}\nadmission {}\n", kFirstLine, stamp.written_unix_s,
      stamp.boot_id.empty() ? kNone : stamp.boot_id, state.enforces ? "enforce" : "advise");
  for (const AdmissionState::Node& node : state.nodes) {
    text += fmt::format("node {} {} {} {} {} {}\n", node.id.value, node.cpus, node.free_cores,
                        node.cores, node.reserve.value, node.promised.value);
    for (const AdmissionState::Pool& pool : node.pools) {
      text +=
          fmt::format("pool {} {} {}\n", node.id.value, pool.page_size.value, pool.promised.value);
    }
  }
  for (const StartingVm& vm : state.expected) {
    const bool guaranteed = vm.description.policy.memory_class == MemoryClass::kGuaranteed;
    text += fmt::format("expected {} {} {} {} {} {} {}\n", to_text(vm.description.id),
                        vm.description.vcpus.size(), vm.description.max_memory.value,
                        vm.description.huge_page_size.value, guaranteed ? "guaranteed" : "plain",
                        in_order(vm.homes), in_order(vm.nodes));
    for (const PromisedMemory& memory : vm.memory) {
      text += fmt::format("promised {} {} {} {}\n", to_text(vm.description.id), memory.node.value,
                          memory.page_size.value, memory.memory.value);
    }
  }
  for (const Reservation& reservation : state.reservations) {
    text += reservation_text(reservation);
  }
  return text;
}

Result<StampedAdmission> parse_admission(std::string_view text) {
  StampedAdmission read;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    Words words(line);
    const std::string_view kind = words.word();
    if (number == 1) {
      words.must_be(line == kFirstLine);
    } else if (kind == "written") {
      read.stamp.written_unix_s = words.number(std::numeric_limits<std::int64_t>::max() / 2);
      read.stamp.boot_id = words.word();
    } else if (kind == "admission") {
      const std::string_view admission = words.word();
      read.state.enforces = admission == "enforce";
      words.must_be(read.state.enforces || admission == "advise");
    } else if (kind == "node") {
      read.state.nodes.push_back(read_node(words));
    } else if (kind == "pool") {
      const NodeId node = words.node();
      const Bytes page_size = words.bytes();
      const Bytes promised = words.bytes();
      words.must_be(!read.state.nodes.empty() && read.state.nodes.back().id == node &&
                    page_size > Bytes{});
      if (words.good()) {
        read.state.nodes.back().pools.push_back({page_size, promised});
      }
    } else if (kind == "expected") {
      read.state.expected.push_back(read_expected(words));
      words.must_be(read.state.expected.size() <= StartingVms::kMostStarting);
    } else if (kind == "promised") {
      const VmId vm = words.vm();
      const NodeId node = words.node();
      const Bytes page_size = words.bytes();
      const Bytes memory = words.bytes();
      words.must_be(!read.state.expected.empty() &&
                    read.state.expected.back().description.id == vm);
      if (words.good()) {
        read.state.expected.back().memory.push_back({node, page_size, memory});
      }
    } else {
      read_reservation(kind, words, read.state.reservations);  // or a newer daemon's line
    }
    if (!words.good()) {
      return failure(ErrorCode::kCorrupt, fmt::format("line {} of the admission state, '{}', is "
                                                      "not understood",
                                                      number, line.substr(0, 80)));
    }
  }
  if (number == 0) {
    return failure(ErrorCode::kCorrupt, "the admission state is empty");
  }
  return read;
}

}  // namespace vmnuma::balancer
