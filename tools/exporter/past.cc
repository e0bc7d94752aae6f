// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/past.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "tools/exporter/node_locality.h"

namespace vmnuma::tools {

using Json = nlohmann::ordered_json;

void Past::add(const Reading& reading) {
  Point point;
  point.time_unix_ms = reading.time_unix_ms;
  if (reading.views) {
    const balancer::HostView& host = reading.views->host;
    std::vector<placement::NodeId> nodes;
    const auto locality = node_locality(host);
    for (const balancer::NodeView& node : host.nodes) {
      nodes.push_back(node.node);
      NodePoint figures{node.load_pct, 0, std::nullopt, node.free_bytes};
      if (node.capacity_ms > 0) {
        figures.owed_pct = node.owed_ms * 100 / node.capacity_ms;
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
    const bool gap = point.nodes.empty();
    times.push_back(point.time_unix_ms);
    imbalance.push_back(gap ? Json(nullptr) : Json(point.imbalance_pct));
    lost.push_back(gap ? Json(nullptr) : Json(point.lost_ms));
  }
  Json nodes = Json::array();
  Json load = Json::array();
  Json owed = Json::array();
  Json locality = Json::array();
  Json free = Json::array();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes.push_back(nodes_[i].value);
    const auto column = [&](auto figure) {
      Json values = Json::array();
      for (const Point& point : points_) {
        values.push_back(point.nodes.empty() ? Json(nullptr) : figure(point.nodes[i]));
      }
      return values;
    };
    load.push_back(column([](const NodePoint& node) { return Json(node.load_pct); }));
    owed.push_back(column([](const NodePoint& node) { return Json(node.owed_pct); }));
    locality.push_back(column([](const NodePoint& node) {
      return node.locality_pct ? Json(*node.locality_pct) : Json(nullptr);
    }));
    free.push_back(column([](const NodePoint& node) { return Json(node.free_bytes); }));
  }
  Json json;
  json["times"] = std::move(times);
  json["imbalance"] = std::move(imbalance);
  json["lost"] = std::move(lost);
  json["nodes"] = std::move(nodes);
  json["load"] = std::move(load);
  json["owed"] = std::move(owed);
  json["locality"] = std::move(locality);
  json["free"] = std::move(free);
  return json.dump();
}

}  // namespace vmnuma::tools
