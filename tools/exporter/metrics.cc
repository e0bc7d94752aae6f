// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/metrics.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "balancer/model/mode.h"
#include "balancer/protocol/view_fields.h"
#include "stats/text/printable.h"
#include "tools/exporter/metric_table.h"
#include "tools/exporter/node_locality.h"

namespace vmnuma::tools {

namespace {

using balancer::CpuTotalView;
using balancer::Figure;
using balancer::Mode;
using balancer::NodeView;
using balancer::VmClientView;
using balancer::VmView;
using prometheus::ClientMetric;
using prometheus::MetricFamily;

using Labels = std::vector<ClientMetric::Label>;

/// A sample, or none.
using Value = std::optional<double>;

template <std::integral T>
Value number(T value) {
  return static_cast<double>(value);
}
Value number(const Figure& figure) {
  return figure ? Value(static_cast<double>(*figure)) : std::nullopt;
}
Value seconds(std::int64_t ms) {
  return static_cast<double>(ms) / 1000;
}
Value number(const std::optional<Permille>& share) {
  return share ? number(share->value) : std::nullopt;
}

/// Returns the divisor that converts a view's field to the base unit; the field's unit is the
/// suffix of its name.
double base_units(std::string_view field) {
  return field.ends_with("_ms") || field.ends_with("_permille") ? 1000
         : field.ends_with("_pct")                              ? 100
                                                                : 1;
}

/// The families of the table, filled in any order.
class Families {
 public:
  Families() {
    for (const MetricInfo& info : metric_table()) {
      MetricFamily family;
      family.name = info.name;
      family.help = info.help;
      family.type =
          info.is_counter() ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
      index_.emplace(info.name, families_.size());
      families_.push_back(std::move(family));
    }
  }

  void add(std::string_view name, const Value& value, Labels labels = {}) {
    const auto found = index_.find(name);
    VMNUMA_CHECK(found != index_.end());
    if (!value) {
      return;
    }
    MetricFamily& family = families_[found->second];
    ClientMetric metric;
    metric.label = std::move(labels);
    // Label values are displayed unchanged.
    for (ClientMetric::Label& label : metric.label) {
      label.value = text::printable(label.value);
    }
    (family.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        *value;
    family.metric.push_back(std::move(metric));
  }

  [[nodiscard]] std::string text() && {
    std::erase_if(families_, [](const MetricFamily& family) { return family.metric.empty(); });
    return prometheus::TextSerializer().Serialize(families_);
  }

 private:
  std::vector<MetricFamily> families_;
  std::map<std::string_view, std::size_t> index_;
};

/// Adds the fields of a view that are metrics.
class MetricFields {
 public:
  MetricFields(const Labels& labels, Families& families) : labels_(labels), families_(families) {}

  template <class T>
  void operator()(std::string_view /*name*/, const T& /*value*/) {}
  template <class T>
  void operator()(std::string_view name, const T& value, const balancer::Metric& metric) {
    Labels labels = labels_;
    if (!metric.label.empty()) {
      labels.push_back({std::string(metric.label), std::string(metric.marked)});
    }
    if (const Value measured = number(value)) {
      families_.add(metric.name, *measured / base_units(name), std::move(labels));
    }
  }
  void time(std::string_view /*name*/, const balancer::Figure& /*unix_s*/) {}

 private:
  const Labels& labels_;
  Families& families_;
};

template <class View>
void add_fields(const View& view, const Labels& labels, Families& families) {
  MetricFields fields(labels, families);
  balancer::visit_fields(fields, view);
}

void add_daemon(const balancer::StatusView& status, Families& families) {
  add_fields(status, {}, families);
  add_fields(status.largest_vm, {}, families);
  for (const balancer::LargestOnPagesView& pages : status.largest_vm.huge_pages) {
    add_fields(pages, {{"page_bytes", std::to_string(pages.page_bytes)}}, families);
  }
  families.add("vmnuma_daemon_info", 1, {{"version", status.version}, {"uri", status.uri}});
  for (const Mode mode : kValuesOf<Mode>) {
    families.add("vmnuma_mode", mode == status.mode ? 1 : 0,
                 {{"mode", std::string(name_of(mode))}});
  }
  families.add("vmnuma_missing_sources", number(status.degraded.size()));
  for (const balancer::DegradedView& missing : status.degraded) {
    families.add("vmnuma_source_missing_since_timestamp_seconds", number(missing.since_unix_s),
                 {{"source", missing.source}});
  }
  families.add("vmnuma_forecast_vms", number(status.forecasts.trained), {{"predictor", "trained"}});
  families.add("vmnuma_forecast_vms", number(status.forecasts.histogram),
               {{"predictor", "histogram"}});
  families.add("vmnuma_forecast_vms", number(status.forecasts.last_maximum),
               {{"predictor", "last-maximum"}});
  families.add("vmnuma_history_writable", status.history.state.starts_with("ok") ? 1 : 0);
  std::map<std::string, std::int64_t> transfers{{"running", 0}, {"waiting", 0}, {"paused", 0}};
  for (const balancer::TransferView& transfer : status.transfers) {
    ++transfers[transfer.state];
  }
  for (const auto& [state, count] : transfers) {
    families.add("vmnuma_transfers", number(count), {{"state", state}});
  }
}

void add_host(const balancer::HostView& host, Families& families) {
  add_fields(host, {}, families);
  for (const balancer::ActionCountView& row : host.actions) {
    families.add("vmnuma_actions_total", number(row.count),
                 {{"reason", row.reason}, {"state", row.state}});
  }
}

/// Adds four counters with names that differ in their subject.
void add_total(std::string_view of, const CpuTotalView& total, const Labels& labels,
               Families& families) {
  const auto add = [&](std::string_view what, std::int64_t ms) {
    std::string name = "vmnuma_";
    name.append(of).append("_").append(what).append("_cpu_seconds_total");
    families.add(name, seconds(ms), labels);
  };
  add("used", total.used_ms);
  add("ready", total.ready_ms);
  add("entitled", total.entitled_ms);
  add("owed", total.owed_ms);
}

void add_node(const balancer::HostView& host, const NodeView& node, Families& families) {
  const std::string name = std::to_string(node.node.value);
  const Labels labels{{"node", name}};
  add_fields(node, labels, families);
  for (const balancer::HugePagesView& pages : node.huge_pages) {
    add_fields(pages, {{"node", name}, {"page_bytes", std::to_string(pages.page_bytes)}}, families);
  }
  for (std::size_t i = 0; i < std::min(node.distances.size(), host.nodes.size()); ++i) {
    families.add("vmnuma_node_distance", node.distances[i],
                 {{"node", name}, {"to", std::to_string(host.nodes[i].node.value)}});
  }
  add_total("node", node.total, labels, families);
}

void add_client(const balancer::HostView& host, const std::string& vm, const VmClientView& client,
                Families& families) {
  const Labels labels{{"vm", vm}, {"client", std::to_string(client.index)}};
  const auto on_node = [&](NodeId node) {
    Labels all = labels;
    all.push_back({"node", std::to_string(node.value)});
    return all;
  };
  add_fields(client, labels, families);
  if (client.home.value >= 0) {
    families.add("vmnuma_client_home", 1, on_node(client.home));
  }
  add_total("client", client.total, labels, families);
  for (std::size_t i = 0; i < std::min(client.memory_bytes.size(), host.nodes.size()); ++i) {
    families.add("vmnuma_client_memory_bytes", number(client.memory_bytes[i]),
                 on_node(host.nodes[i].node));
  }
}

/// Names of VMs for display: a VM's name, plus its UUID if another VM's name looks the same.
/// libvirt keeps names unique, but invalid UTF-8 bytes become the same replacement character, and
/// the replacement of an unprintable character may itself be part of a name.
class VmNames {
 public:
  explicit VmNames(const std::vector<VmView>& vms) {
    for (const VmView& vm : vms) {
      ++uses_[text::printable(vm.vm)];
    }
  }
  [[nodiscard]] std::string of(const std::string& name, const std::string& uuid) const {
    const auto uses = uses_.find(text::printable(name));
    return uses == uses_.end() || uses->second < 2 ? name : name + " (" + uuid + ")";
  }

 private:
  std::map<std::string, int> uses_;
};

}  // namespace

std::string metrics_text(const Reading& reading) {
  Families families;
  families.add("vmnuma_up", reading.views ? 1 : 0);
  families.add("vmnuma_exporter_info", 1, {{"version", VMNUMA_VERSION}});
  families.add("vmnuma_failed_reads_total", number(reading.failures));
  for (const auto& [name, value] : reading.process) {
    families.add(name, value);
  }
  if (!reading.views) {
    return std::move(families).text();
  }
  families.add("vmnuma_answer_seconds", std::chrono::duration<double>(reading.took).count());
  const balancer::StatusView& status = reading.views->status;
  const balancer::HostView& host = reading.views->host;
  add_daemon(status, families);
  add_host(host, families);
  for (const NodeView& node : host.nodes) {
    add_node(host, node, families);
  }
  for (const auto& [node, share] : node_locality(host)) {
    families.add("vmnuma_node_locality_ratio", share, {{"node", std::to_string(node.value)}});
  }
  const VmNames names(host.vms);
  std::set<std::string> transferring;
  for (const balancer::TransferView& transfer : status.transfers) {
    const std::string vm = names.of(transfer.vm, transfer.vm_uuid);
    if (transferring.insert(vm).second) {
      families.add("vmnuma_transfer_done_bytes", number(transfer.bytes_done), {{"vm", vm}});
      families.add("vmnuma_transfer_remaining_bytes", number(transfer.bytes_remaining),
                   {{"vm", vm}});
    }
  }
  for (const VmView& view : host.vms) {
    const std::string vm = names.of(view.vm, view.vm_uuid);
    families.add("vmnuma_vm_info", 1, {{"vm", vm}, {"uuid", view.vm_uuid}});
    for (const balancer::AdviceView& advice : view.advice) {
      families.add("vmnuma_vm_advice", 1, {{"vm", vm}, {"kind", advice.kind}});
    }
    add_fields(view, {{"vm", vm}}, families);
    for (const VmClientView& client : view.clients) {
      add_client(host, vm, client, families);
    }
  }
  return std::move(families).text();
}

}  // namespace vmnuma::tools
