// SPDX-License-Identifier: Apache-2.0
#include "stats/latency/latency_text.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "stats/text/archive.h"
#include "stats/text/json.h"

namespace vmnuma::stats {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kVersion = 1;
/// Enough for the pairs of 140 nodes.
constexpr std::size_t kLongestText = std::size_t{1} << 20U;

tl::unexpected<Error> corrupt(const std::string& what) {
  return failure(ErrorCode::kCorrupt, "kept latencies: " + what);
}

template <class Fields, text::MaybeConst<MeasuredLatency> T>
void visit_fields(Fields& fields, T& latency) {
  fields("cpu", latency.cpu);
  fields("memory", latency.memory);
  fields("read_ns", latency.read_ns);
}
template <class Fields, text::MaybeConst<KeptLatencies> T>
void visit_fields(Fields& fields, T& kept) {
  std::int64_t version = kVersion;
  fields("version", version);
  fields("boot_id", kept.boot_id);
  fields("latencies", kept.latencies);
}

class Writer : public text::FieldWriter<Writer, Json> {};

class Reader : public text::FieldReader<Reader, Json> {
  using FieldReader::FieldReader;
};

bool makes_sense(const MeasuredLatency& latency) {
  return latency.cpu.value >= 0 && latency.memory.value >= 0 && latency.read_ns > 0;
}

}  // namespace

std::string text_of(const KeptLatencies& kept) {
  return text::json_text(Writer().write(kept)) + "\n";
}

Result<KeptLatencies> parse_latencies(std::string_view text) {
  VMNUMA_ASSIGN_OR_RETURN(const auto document,
                          text::read_json<Json>(text, {kLongestText}, "kept latencies: the text"));
  if (document.value("version", Json()) != kVersion) {
    return corrupt("of another version");
  }
  KeptLatencies kept;
  if (const auto read = Reader(document).read(kept); !read) {
    return corrupt(read.error().message);
  }
  if (!std::all_of(kept.latencies.begin(), kept.latencies.end(), makes_sense)) {
    return corrupt("an entry cannot be");
  }
  for (MeasuredLatency& latency : kept.latencies) {
    latency.state = LatencyState::kMeasured;
  }
  return kept;
}

bool still_hold(const KeptLatencies& kept, const std::string& boot_id, const Topology& topology) {
  const std::vector<LatencyRow> rows = latency_rows(topology, {kept.latencies, {}});
  return !boot_id.empty() && kept.boot_id == boot_id && rows.size() == kept.latencies.size() &&
         std::all_of(rows.begin(), rows.end(),
                     [](const LatencyRow& row) { return row.read_ns.has_value(); });
}

}  // namespace vmnuma::stats
