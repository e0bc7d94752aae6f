// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/past.h"

#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"
#include "tools/exporter/node_locality.h"

namespace vmnuma::tools {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const balancer::Figure& figure) {
  return figure ? Json(*figure) : Json(nullptr);
}

}  // namespace

void Past::add(const Reading& reading) {
  Point point;
  point.time_unix_ms = reading.time_unix_ms;
  if (reading.views) {
    const balancer::HostView& host = reading.views->host;
    std::vector<NodeId> nodes;
    const auto locality = node_locality(host);
    for (const balancer::NodeView& node : host.nodes) {
      nodes.push_back(node.node);
      NodePoint figures{node.vm_load_pct, node.non_vm_pct, {}, {}, node.free_bytes};
      if (node.owed_ms && node.capacity_ms > 0) {
        figures.owed_pct = *node.owed_ms * 100 / *node.capacity_ms;
      }
      if (const auto share = locality.find(node.node); share != locality.end()) {
        figures.locality_pct = std::lround(share->second * 100);
      }
      point.nodes.push_back(figures);
    }
    if (nodes != nodes_) {
      nodes_ = std::move(nodes);
      points_.clear();
    }
    point.imbalance_pct = reading.views->status.imbalance_pct;
    point.lost_ms = reading.views->status.lost_ms;
  }
  points_.push_back(std::move(point));
  if (points_.size() > kMostPoints) {
    points_.pop_front();
  }
}

std::string Past::json() const {
  Json times = Json::array();
  Json imbalance = Json::array();
  Json lost = Json::array();
  for (const Point& point : points_) {
    times.push_back(point.time_unix_ms);
    imbalance.push_back(json_of(point.imbalance_pct));
    lost.push_back(json_of(point.lost_ms));
  }
  Json nodes = Json::array();
  for (const NodeId node : nodes_) {
    nodes.push_back(node.value);
  }
  Json json;
  json["times"] = std::move(times);
  json["imbalance"] = std::move(imbalance);
  json["lost"] = std::move(lost);
  json["nodes"] = std::move(nodes);
  for (const auto& [name, figure] :
       {std::pair("load", &NodePoint::vm_load_pct), std::pair("others", &NodePoint::non_vm_pct),
        std::pair("owed", &NodePoint::owed_pct), std::pair("locality", &NodePoint::locality_pct),
        std::pair("free", &NodePoint::free_bytes)}) {
    Json columns = Json::array();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Json column = Json::array();
      for (const Point& point : points_) {
        column.push_back(point.nodes.empty() ? Json(nullptr) : json_of(point.nodes[i].*figure));
      }
      columns.push_back(std::move(column));
    }
    json[name] = std::move(columns);
  }
  return text::json_text(json);
}

}  // namespace vmnuma::tools
