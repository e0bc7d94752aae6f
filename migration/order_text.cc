// SPDX-License-Identifier: Apache-2.0
#include "migration/order_text.h"

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "placement/model/text.h"
#include "stats/text/archive.h"

namespace vmnuma::migration {

namespace {

using nlohmann::json;
using text::MaybeConst;

/// More than any real order needs: only 4096 pins with sets of 8192 scattered CPUs before and after
/// would not fit.
constexpr std::size_t kLongestText = 64U << 20U;
constexpr std::size_t kMostCpus = 64U << 20U;

template <class Fields, MaybeConst<HomeChange> T>
void visit_fields(Fields& fields, T& home) {
  fields("client", home.client);
  fields("from", home.from);
  fields("to", home.to);
  fields.added("spills_to", home.spills_to);  // older journals have none
}

template <class Fields, MaybeConst<PinChange> T>
void visit_fields(Fields& fields, T& pin) {
  fields("thread", pin.thread);
  fields("number", pin.number);
  fields("before", pin.before);
  fields("after", pin.after);
}

template <class Fields, MaybeConst<NodeQuota> T>
void visit_fields(Fields& fields, T& quota) {
  fields("node", quota.node);
  fields("bytes", quota.bytes);
}

template <class Fields, MaybeConst<CellHome> T>
void visit_fields(Fields& fields, T& cell) {
  fields("bytes", cell.size);
  fields("node", cell.node);
}

template <class Fields, MaybeConst<VmChange> T>
void visit_fields(Fields& fields, T& change) {
  fields("vm", change.vm);
  fields("name", change.vm_name);
  fields("pid", change.process.pid);
  fields("start_time_ticks", change.process.start_time_ticks);
  fields.added("domain_id", change.domain_id);  // as above
  fields("homes", change.homes);
  fields("pins", change.pins);
  fields("quotas", change.memory.quotas);
  fields("cells", change.memory.cells);
  fields("memory_mode", change.memory_mode);
  fields("allowed_before", change.memory.allowed_before);
  fields("allowed_after", change.memory.allowed_after);
}

template <class Fields, MaybeConst<Prediction> T>
void visit_fields(Fields& fields, T& predicted) {
  fields("lost_before_us", predicted.lost_before);
  fields("lost_after_us", predicted.lost_after);
  fields("cost_us", predicted.cost);
  fields("imbalance_before", predicted.imbalance_before);
  fields("imbalance_after", predicted.imbalance_after);
  fields("locality_before", predicted.locality_before);
  fields("locality_after", predicted.locality_after);
  fields.added("known", predicted.known);  // as above
}

template <class Fields, MaybeConst<Order> T>
void visit_fields(Fields& fields, T& order) {
  fields("action", order.action);
  fields("epoch", order.epoch);
  fields("reason", order.reason);
  fields("changes", order.changes);
  fields("predicted", order.predicted);
}

/// Writes lists of CPUs and nodes as text, which is compact: "0-65535".
class OrderWriter : public text::FieldWriter<OrderWriter, json> {
 public:
  template <class T>
  void added(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  [[nodiscard]] static json leaf(const std::vector<CpuId>& cpus) { return to_list(cpus); }
  [[nodiscard]] static json leaf(const std::vector<NodeId>& nodes) { return to_list(nodes); }
};

class OrderReader : public text::FieldReader<OrderReader, json> {
 public:
  /// All lists of CPUs together may have at most `cpus_left` entries.
  OrderReader(const json& object, std::size_t& cpus_left)
      : FieldReader(object), cpus_left_(cpus_left) {}
  OrderReader(const OrderReader& around, const json& object)
      : OrderReader(object, around.cpus_left_) {}

  [[nodiscard]] bool leaf(const json& list, std::vector<CpuId>& cpus) {
    std::string text;
    if (!usual(list, text)) {
      return false;
    }
    auto parsed = parse_cpu_list(text);
    if (!parsed || parsed->size() > cpus_left_) {
      return false;
    }
    cpus_left_ -= parsed->size();
    cpus = std::move(*parsed);
    return true;
  }
  [[nodiscard]] bool leaf(const json& list, std::vector<NodeId>& nodes) {
    std::string text;
    if (!usual(list, text)) {
      return false;
    }
    auto parsed = parse_node_list(text);
    if (!parsed) {
      return false;
    }
    nodes = std::move(*parsed);
    return true;
  }

 private:
  std::size_t& cpus_left_;
};

}  // namespace

std::string to_text(const Order& order) {
  // A VM's name may contain bytes that are not UTF-8; they are written as U+FFFD.
  return text::json_text(OrderWriter().write(order));
}

Result<Order> parse_order(std::string_view text) {
  const Result<json> read = text::read_json<json>(text, {kLongestText}, "it");
  if (!read) {
    return failure(ErrorCode::kCorrupt, fmt::format("this is no order: {}: '{}'",
                                                    read.error().message, text.substr(0, 200)));
  }
  Order order;
  std::size_t cpus_left = kMostCpus;
  if (const auto fits = OrderReader(*read, cpus_left).read(order); !fits) {
    return failure(ErrorCode::kCorrupt, "this is no order: " + fits.error().message);
  }
  return order;
}

}  // namespace vmnuma::migration
