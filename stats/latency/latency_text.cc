// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/latency_text.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "stats/text/json.h"

namespace vmnuma::stats {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
/// As many as the pairs of 140 nodes.
constexpr std::size_t kLongestText = std::size_t{1} << 20U;

tl::unexpected<Error> corrupt(const char* what) {
  return failure(ErrorCode::kCorrupt, std::string("kept latencies: ") + what);
}

std::optional<std::int64_t> number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? text::integer_of(*found) : std::nullopt;
}

std::optional<placement::NodeId> node_in(const Json& object, const char* name) {
  const auto number = number_in(object, name);
  if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return placement::NodeId{static_cast<std::int32_t>(*number)};
}

}  // namespace

std::string text_of(const KeptLatencies& kept) {
  Json latencies = Json::array();
  for (const MeasuredLatency& latency : kept.latencies) {
    latencies.push_back({{"cpu", latency.cpu.value},
                         {"memory", latency.memory.value},
                         {"read_ns", latency.read_ns}});
  }
  const Json document = {
      {"version", kVersion}, {"boot_id", kept.boot_id}, {"latencies", std::move(latencies)}};
  return text::json_text(document) + "\n";
}

Result<KeptLatencies> parse_latencies(std::string_view text) {
  const Result<Json> read = text::read_json<Json>(text, {kLongestText}, "kept latencies: the text");
  if (!read) {
    return tl::unexpected(read.error());
  }
  const Json& document = *read;
  if (number_in(document, "version") != kVersion) {
    return corrupt("of another version");
  }
  const auto boot_id = document.find("boot_id");
  const auto latencies = document.find("latencies");
  if (boot_id == document.end() || !boot_id->is_string() || latencies == document.end() ||
      !latencies->is_array()) {
    return corrupt("boot_id or latencies are missing");
  }
  KeptLatencies kept{boot_id->get<std::string>(), {}};
  for (const Json& entry : *latencies) {
    if (!entry.is_object()) {
      return corrupt("an entry is no object");
    }
    const auto cpu = node_in(entry, "cpu");
    const auto memory = node_in(entry, "memory");
    const auto read_ns = number_in(entry, "read_ns");
    if (!cpu || !memory || read_ns.value_or(0) <= 0) {
      return corrupt("an entry is not complete");
    }
    kept.latencies.push_back({*cpu, *memory, LatencyState::kMeasured, *read_ns});
  }
  return kept;
}

bool still_hold(const KeptLatencies& kept, const std::string& boot_id,
                const placement::Topology& topology) {
  const std::vector<LatencyRow> rows = latency_rows(topology, {kept.latencies, {}});
  return !boot_id.empty() && kept.boot_id == boot_id && rows.size() == kept.latencies.size() &&
         std::all_of(rows.begin(), rows.end(),
                     [](const LatencyRow& row) { return row.read_ns.has_value(); });
}

}  // namespace vmnuma::stats
