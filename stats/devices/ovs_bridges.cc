// SPDX-License-Identifier: Apache-2.0
#include "stats/devices/ovs_bridges.h"

#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"

namespace vmnuma::stats {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kWhat = "the answer of Open vSwitch's database";

tl::unexpected<Error> not_understood(const std::string& why) {
  return failure(ErrorCode::kCorrupt, std::string(kWhat) + " is not understood: " + why);
}

/// Returns a member; null if there is none, or `object` is not an object.
const Json* member(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? nullptr : &*found;
}

std::string text_in(const Json& object, const char* name) {
  const Json* value = member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// Returns the elements of ["map", [["peer", "patch-tun"]]] or ["set", [...]]; null if it is
/// neither (RFC 7047, section 5.1).
const Json* elements_of(const Json* value, std::string_view what) {
  const bool is_it = value != nullptr && value->is_array() && value->size() == 2 &&
                     (*value)[0] == what && (*value)[1].is_array();
  return is_it ? &(*value)[1] : nullptr;
}

/// Returns the UUID of ["uuid", "550e..."]; empty for anything else.
std::string uuid_of(const Json* value) {
  const bool is_uuid = value != nullptr && value->is_array() && value->size() == 2 &&
                       (*value)[0] == "uuid" && (*value)[1].is_string();
  return is_uuid ? (*value)[1].get<std::string>() : std::string();
}

/// Returns the UUIDs of a <set>; one with a single element is written as that element.
std::vector<std::string> uuids_in(const Json& object, const char* name) {
  const Json* value = member(object, name);
  const Json* set = elements_of(value, "set");
  if (set == nullptr) {
    return {uuid_of(value)};
  }
  std::vector<std::string> uuids;
  for (const Json& element : *set) {
    uuids.push_back(uuid_of(&element));
  }
  return uuids;
}

/// Returns the name of the patch port at the other end; empty if the interface is not a patch port.
std::string peer_in(const Json& interface) {
  if (const Json* options = elements_of(member(interface, "options"), "map")) {
    for (const Json& pair : *options) {
      if (pair.is_array() && pair.size() == 2 && pair[0] == "peer" && pair[1].is_string()) {
        return pair[1].get<std::string>();
      }
    }
  }
  return {};
}

/// Checks a name that will become part of a path.
bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

/// By UUID.
std::map<std::string, const Json*> rows_by_id(const Json& rows) {
  std::map<std::string, const Json*> by_id;
  for (const Json& row : rows) {
    by_id[uuid_of(member(row, "_uuid"))] = &row;
  }
  return by_id;
}

}  // namespace

std::string_view ovs_request() {
  return R"({"method":"transact","id":0,"params":["Open_vSwitch",)"
         R"({"op":"select","table":"Bridge","where":[],"columns":["name","ports"]},)"
         R"({"op":"select","table":"Port","where":[],"columns":["_uuid","name","interfaces"]},)"
         R"({"op":"select","table":"Interface","where":[],)"
         R"("columns":["_uuid","name","type","options"]}]})";
}

Result<OvsBridges> parse_ovs_answer(std::string_view answer) {
  VMNUMA_ASSIGN_OR_RETURN(const auto json,
                          text::read_json<Json>(answer, {.bytes = kMostOvsBytes}, kWhat));
  const Json* results = member(json, "result");
  if (results == nullptr || !results->is_array() || results->size() != 3) {
    return not_understood("it has no three results");
  }
  std::vector<const Json*> tables;
  for (const Json& result : *results) {
    const Json* rows = member(result, "rows");
    if (rows == nullptr || !rows->is_array()) {
      return not_understood("a result has no rows");
    }
    tables.push_back(rows);
  }
  const auto ports = rows_by_id(*tables[1]);
  const auto interfaces = rows_by_id(*tables[2]);
  OvsBridges bridges;
  for (const Json& bridge : *tables[0]) {
    const std::string name = text_in(bridge, "name");
    auto& below = bridges.bridges_[name];
    for (const std::string& port_id : uuids_in(bridge, "ports")) {
      const auto port = ports.find(port_id);
      if (port == ports.end()) {
        continue;
      }
      bridges.bridge_of_[text_in(*port->second, "name")] = name;
      for (const std::string& id : uuids_in(*port->second, "interfaces")) {
        if (const auto found = interfaces.find(id); found != interfaces.end()) {
          const std::string interface = text_in(*found->second, "name");
          bridges.bridge_of_[interface] = name;
          below[interface] = {text_in(*found->second, "type"), peer_in(*found->second)};
        }
      }
    }
  }
  return bridges;
}

std::vector<std::string> OvsBridges::adapters_below(const std::string& bridge) const {
  const auto contains = [this](const std::string& name) {
    const auto found = bridge_of_.find(name);
    return found == bridge_of_.end() ? std::string() : found->second;
  };
  std::set<std::string> adapters;
  std::set<std::string> seen;
  std::vector<std::string> left{bridges_.contains(bridge) ? bridge : contains(bridge)};
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    const auto found = bridges_.find(name);
    if (found == bridges_.end() || !seen.insert(name).second) {
      continue;
    }
    for (const auto& [interface, of] : found->second) {
      if (of.type == "patch") {
        left.push_back(contains(of.peer));
      } else if ((of.type.empty() || of.type == "system") && is_file_name(interface)) {
        adapters.insert(interface);
      }
    }
  }
  return {adapters.begin(), adapters.end()};
}

}  // namespace vmnuma::stats
