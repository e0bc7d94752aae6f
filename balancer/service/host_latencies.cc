// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/host_latencies.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "stats/files/file.h"
#include "stats/files/read_parsed.h"
#include "stats/latency/hmat.h"
#include "stats/latency/latency_text.h"

namespace vmnuma::balancer {

namespace {

/// Enough for 128 nodes; no host with more is known.
constexpr std::size_t kMostLatencyBytes = std::size_t{1} << 20U;

/// Minimum and maximum, for the log.
std::string range_text(const std::vector<stats::MeasuredLatency>& latencies) {
  const auto [shortest, longest] =
      std::ranges::minmax_element(latencies, {}, &stats::MeasuredLatency::read_ns);
  return fmt::format("{} to {} ns", shortest->read_ns, longest->read_ns);
}

/// The log line for a measurement, which is stored if it covers all nodes.
LogLine keep(const stats::LatencyMeasurement& measurement, const std::string& path,
             const std::string& boot_id) {
  if (!measurement.problem.empty()) {
    return {Severity::kNotice,
            fmt::format("memory latencies were not all measured ({}){}", measurement.problem,
                        measurement.again ? ", the rest is tried again later" : ""),
            {}};
  }
  if (measurement.latencies.empty()) {
    return {Severity::kInfo, "no node has CPUs and memory to measure latencies with", {}};
  }
  const std::string range = range_text(measurement.latencies);
  const Result<void> kept =
      boot_id.empty() ? failure(ErrorCode::kUnavailable, "the kernel's boot ID cannot be read")
                      : files::replace_file(path, stats::text_of({boot_id, measurement.latencies}));
  if (!kept) {
    return {Severity::kWarning,
            fmt::format("memory latencies measured, {}, but not kept for the next start: {}", range,
                        kept.error().message),
            {}};
  }
  return {Severity::kInfo, fmt::format("memory latencies measured: {}", range), {}};
}

}  // namespace

FoundLatencies find_latencies(const files::Directory& root, const std::string& state_dir,
                              const Topology& topology,
                              const std::vector<stats::MeasuredLatency>& known,
                              stats::LatencyProbe& probe, const std::atomic<bool>& stop) {
  FoundLatencies found;
  const std::string path = state_dir + "/latencies.json";
  // If it cannot be read it is empty, and nothing is stored.
  const std::string boot_id = files::boot_id_of(root);
  auto kept = files::read_file(path, kMostLatencyBytes).and_then(stats::parse_latencies);
  if (kept && still_hold(*kept, boot_id, topology)) {
    found.latencies.measured = std::move(kept->latencies);
    found.log = {Severity::kDebug, "memory latencies are those measured at an earlier start", {}};
  } else {
    // A stored file that is damaged or from another boot is ignored, and will be rewritten.
    stats::LatencyMeasurement measurement = stats::measure_latencies(topology, known, probe, stop);
    found.log = keep(measurement, path, boot_id);
    found.again = measurement.again;
    found.latencies.measured = std::move(measurement.latencies);
  }
  if (auto firmware = stats::read_hmat(root, topology)) {
    found.latencies.firmware = std::move(*firmware);
  } else {
    found.log.severity = std::max(found.log.severity, Severity::kWarning);
    found.log.message +=
        fmt::format("; what HMAT says cannot be read: {}", firmware.error().message);
  }
  return found;
}

}  // namespace vmnuma::balancer
