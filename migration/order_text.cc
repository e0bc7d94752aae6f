// SPDX-License-Identifier: Apache-2.0
#include "migration/order_text.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "placement/model/text.h"
#include "stats/text/json.h"

namespace vmnuma::migration {

namespace {

using nlohmann::json;
using placement::MemoryMode;
using placement::NodeId;
using placement::Reason;

/// More than any order: 4096 pins with sets of 8192 scattered CPUs before and after would not fit,
/// nothing real comes near it.
constexpr std::size_t kLongestText = 64U << 20U;
constexpr std::size_t kMostCpus = 64U << 20U;

/// Reads members of one JSON object. Remembers the first thing that is wrong; after that every read
/// gives a default, so that callers check once, at the end.
class Members {
 public:
  Members(const json& object, std::string where, std::optional<std::string>& wrong)
      : object_(object), where_(std::move(where)), wrong_(wrong) {
    if (!object.is_object()) {
      complain("is not an object");
    }
  }

  [[nodiscard]] bool has(const char* key) const { return !wrong_ && object_.contains(key); }

  template <class Number>
  Number number(const char* key) {
    const json* value = find(key);
    if (value == nullptr) {
      return {};
    }
    if (value->is_number_unsigned()) {
      const auto wide = value->get<std::uint64_t>();
      if (std::in_range<Number>(wide)) {
        return static_cast<Number>(wide);
      }
    } else if (value->is_number_integer()) {
      const auto wide = value->get<std::int64_t>();
      if (std::in_range<Number>(wide)) {
        return static_cast<Number>(wide);
      }
    }
    complain(fmt::format("has a '{}' that is no number of its kind", key));
    return {};
  }

  std::string text(const char* key) {
    const json* value = find(key);
    if (value == nullptr) {
      return {};
    }
    if (!value->is_string()) {
      complain(fmt::format("has a '{}' that is no text", key));
      return {};
    }
    return value->get<std::string>();
  }

  template <Named Value>
  Value choice(const char* key) {
    const std::optional<Value> value = value_named<Value>(text(key));
    if (!value) {
      complain(fmt::format("has an unknown '{}'", key));
    }
    return value.value_or(Value{});
  }

  /// Calls `read(Members&)` for every object of an array.
  template <class Read>
  void each(const char* key, Read read) {
    const json* value = find(key);
    if (value == nullptr) {
      return;
    }
    if (!value->is_array()) {
      complain(fmt::format("has a '{}' that is no list", key));
      return;
    }
    std::size_t index = 0;
    for (const json& element : *value) {
      Members members(element, fmt::format("{}[{}]", key, index++), wrong_);
      if (wrong_) {
        return;
      }
      read(members);
    }
  }

  Members object(const char* key) {
    const json* value = find(key);
    // Without it the complaint is made, and nothing is read from the stand-in.
    return Members(value == nullptr ? object_ : *value, key, wrong_);
  }

  void complain(std::string_view what) {
    if (!wrong_) {
      wrong_ = fmt::format("{} {}", where_, what);
    }
  }

  /// The value of a Result, or a default and a complaint.
  template <class T>
  T take(Result<T> result) {
    if (!result) {
      complain("is wrong: " + result.error().message);
      return {};
    }
    return std::move(*result);
  }

 private:
  const json* find(const char* key) {
    if (wrong_) {
      return nullptr;
    }
    const auto found = object_.find(key);
    if (found == object_.end()) {
      complain(fmt::format("has no '{}'", key));
      return nullptr;
    }
    return &*found;
  }

  const json& object_;
  std::string where_;
  std::optional<std::string>& wrong_;
};

json to_json(const VmChange& change) {
  json homes = json::array();
  for (const HomeChange& home : change.homes) {
    homes.push_back({{"client", home.client}, {"from", home.from.value}, {"to", home.to.value}});
  }
  json pins = json::array();
  for (const PinChange& pin : change.pins) {
    pins.push_back({{"thread", name_of(pin.thread)},
                    {"number", pin.number},
                    {"before", placement::to_list(pin.before)},
                    {"after", placement::to_list(pin.after)}});
  }
  json quotas = json::array();
  for (const NodeQuota& quota : change.memory.quotas) {
    quotas.push_back({{"node", quota.node.value}, {"bytes", quota.bytes.value}});
  }
  json cells = json::array();
  for (const CellHome& cell : change.memory.cells) {
    cells.push_back({{"bytes", cell.size.value}, {"node", cell.node.value}});
  }
  return {{"vm", placement::to_text(change.vm)},
          {"name", change.vm_name},
          {"pid", change.process.pid},
          {"start_time_ticks", change.process.start_time_ticks},
          {"domain_id", change.domain_id},
          {"homes", std::move(homes)},
          {"pins", std::move(pins)},
          {"quotas", std::move(quotas)},
          {"cells", std::move(cells)},
          {"memory_mode", name_of(change.memory_mode)},
          {"allowed_before", placement::to_list(change.memory.allowed_before)},
          {"allowed_after", placement::to_list(change.memory.allowed_after)}};
}

/// Lists are short for what they stand for: "0-65535". All of them together have `left` CPUs.
std::vector<placement::CpuId> read_cpus(Members& members, const char* key, std::size_t& left) {
  auto cpus = members.take(placement::parse_cpu_list(members.text(key)));
  if (cpus.size() > left) {
    members.complain("has more CPUs than any order");
    return {};
  }
  left -= cpus.size();
  return cpus;
}

VmChange read_change(Members& members, std::size_t& cpus_left) {
  VmChange change;
  change.vm = members.take(placement::parse_vm_id(members.text("vm")));
  change.vm_name = members.text("name");
  change.process.pid = members.number<std::int64_t>("pid");
  change.process.start_time_ticks = members.number<std::uint64_t>("start_time_ticks");
  if (members.has("domain_id")) {  // older journals have none
    change.domain_id = members.number<std::int32_t>("domain_id");
  }
  members.each("homes", [&](Members& home) {
    change.homes.push_back({.client = home.number<std::int32_t>("client"),
                            .from = NodeId{home.number<std::int32_t>("from")},
                            .to = NodeId{home.number<std::int32_t>("to")}});
  });
  members.each("pins", [&](Members& pin) {
    change.pins.push_back({.thread = pin.choice<PinChange::Thread>("thread"),
                           .number = pin.number<std::int32_t>("number"),
                           .before = read_cpus(pin, "before", cpus_left),
                           .after = read_cpus(pin, "after", cpus_left)});
  });
  members.each("quotas", [&](Members& quota) {
    change.memory.quotas.push_back({.node = NodeId{quota.number<std::int32_t>("node")},
                                    .bytes = {quota.number<std::int64_t>("bytes")}});
  });
  members.each("cells", [&](Members& cell) {
    change.memory.cells.push_back({.size = {cell.number<std::int64_t>("bytes")},
                                   .node = NodeId{cell.number<std::int32_t>("node")}});
  });
  change.memory_mode = members.choice<MemoryMode>("memory_mode");
  change.memory.allowed_before =
      members.take(placement::parse_node_list(members.text("allowed_before")));
  change.memory.allowed_after =
      members.take(placement::parse_node_list(members.text("allowed_after")));
  return change;
}

}  // namespace

std::string to_text(const Order& order) {
  json changes = json::array();
  for (const VmChange& change : order.changes) {
    changes.push_back(to_json(change));
  }
  const placement::Prediction& predicted = order.predicted;
  const json object{{"action", order.action},
                    {"epoch", order.epoch},
                    {"reason", name_of(order.reason)},
                    {"changes", std::move(changes)},
                    {"predicted",
                     {{"lost_before_us", predicted.lost_before.value},
                      {"lost_after_us", predicted.lost_after.value},
                      {"cost_us", predicted.cost.value},
                      {"imbalance_before", predicted.imbalance_before.value},
                      {"imbalance_after", predicted.imbalance_after.value},
                      {"locality_before", predicted.locality_before.value},
                      {"locality_after", predicted.locality_after.value}}}};
  // A VM's name may hold bytes that are no UTF-8; they come out as U+FFFD.
  return text::json_text(object);
}

Result<Order> parse_order(std::string_view text) {
  const Result<json> read = text::read_json<json>(text, {kLongestText}, "it");
  if (!read) {
    return failure(ErrorCode::kCorrupt, fmt::format("this is no order: {}: '{}'",
                                                    read.error().message, text.substr(0, 200)));
  }
  const json& object = *read;
  std::optional<std::string> wrong;
  Members members(object, "the order", wrong);
  Order order;
  std::size_t cpus_left = kMostCpus;
  order.action = members.number<std::int64_t>("action");
  order.epoch = members.number<std::int64_t>("epoch");
  order.reason = members.choice<Reason>("reason");
  members.each("changes",
               [&](Members& change) { order.changes.push_back(read_change(change, cpus_left)); });
  Members predicted = members.object("predicted");
  order.predicted = {.lost_before = {predicted.number<std::int64_t>("lost_before_us")},
                     .lost_after = {predicted.number<std::int64_t>("lost_after_us")},
                     .cost = {predicted.number<std::int64_t>("cost_us")},
                     .imbalance_before = {predicted.number<std::int64_t>("imbalance_before")},
                     .imbalance_after = {predicted.number<std::int64_t>("imbalance_after")},
                     .locality_before = {predicted.number<std::int64_t>("locality_before")},
                     .locality_after = {predicted.number<std::int64_t>("locality_after")}};
  if (wrong) {
    return failure(ErrorCode::kCorrupt, "this is no order: " + *wrong);
  }
  return order;
}

}  // namespace vmnuma::migration
