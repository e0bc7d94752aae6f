// SPDX-License-Identifier: Apache-2.0
/// What the command line asks for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "balancer/protocol/request.h"
#include "placement/base/result.h"
#include "tools/vmnuma/arguments/report_shape.h"

namespace vmnuma::tools {

/// How the program ends.
inline constexpr int kExitOk = 0;
inline constexpr int kExitRefused = 1;      ///< the daemon said no, and why
inline constexpr int kExitUsage = 2;        ///< the command line is wrong
inline constexpr int kExitUnreachable = 3;  ///< there is no daemon, or no sense in its answer
inline constexpr int kExitWarning = 4;      ///< of `doctor`: its worst finding is a warning
inline constexpr int kExitBroken = 5;       ///< of `doctor`: its worst finding is an error

/// `sim run`.
struct SimRunRequest {
  std::string scenario;  ///< a file, or the name of one that comes with the program
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> seed;
  std::optional<std::string> record;   ///< a file that is made
  std::optional<std::string> explain;  ///< a VM; its explanation is then all that is printed
};
/// `sim list`.
struct SimListRequest {};
/// `sim compare`.
struct SimCompareRequest {
  std::vector<std::string> scenarios;  ///< all that come with the program if empty
  std::optional<std::int64_t> epochs;
};
/// `sim search`.
struct SimSearchRequest {
  std::int64_t seconds = 60;
  std::optional<std::int64_t> rounds;  ///< instead of seconds
  std::int64_t seed = 1;
  std::string against = "best";
  std::optional<std::string> out;  ///< a directory for what is found
};
using SimRequest = std::variant<SimRunRequest, SimListRequest, SimCompareRequest, SimSearchRequest>;

/// `record`.
struct RecordRun {
  std::string path;
  std::optional<std::int64_t> epochs;
  bool anonymize = false;
};
/// `replay`.
struct ReplayRun {
  std::string path;
  std::vector<std::pair<std::string, std::int64_t>> options;
};

/// `doctor`.
struct DoctorRun {
  std::string root = "/";  ///< the host's root directory
};

/// `forecast show`.
struct ForecastShowRun {
  std::string vm;            ///< name or UUID
  std::string history_path;  ///< empty: the daemon's
};
/// `forecast train`.
struct ForecastTrainRun {
  std::string history_path;
  std::string model_path;  ///< empty: beside the history
};

/// `report`.
struct ReportRun {
  bool html = false;
  std::int64_t since_unix_s = 0;
  std::int64_t until_unix_s = 0;
  std::string history_path;  ///< empty: the daemon's
};

/// What `export` prints.
enum class ExportFormat { kNodeResourceTopology, kPlacementInventories };

/// `export`.
struct ExportRun {
  ExportFormat format{};
  std::optional<std::string> name;  ///< of the host; its own if left out
  bool follow = false;              ///< on and on, whenever it has changed
  std::int64_t follow_seconds = 0;  ///< how often it is looked at; 0: every epoch
  std::string root = "/";           ///< the host's root directory
};

/// What --format takes, in the order of ExportFormat.
inline constexpr std::array<std::string_view, 2> kExportFormats{"nrt", "openstack"};

/// `plan --optimal`.
struct OptimalRun {
  std::int64_t seconds = 5;        ///< for the search
  std::int64_t gap = 1;            ///< so close is enough, in thousandths of what VMs want
  std::int64_t memory_mib = 2048;  ///< for the search
};

/// `repack`.
struct RepackRun {
  OptimalRun search;
  std::int64_t least_gain = 5;  ///< nothing is done for less, in thousandths of what VMs want
  std::int64_t at_most = 100;   ///< so many clients move
};

struct Invocation {
  std::string program = "vmnuma";  ///< what messages begin with
  std::string socket_path;
  bool json = false;
  bool watch = false;                 ///< again and again
  ReportShape shape;                  ///< of the table of `sched-stats`
  std::int64_t watch_seconds = 0;     ///< how often; 0: every epoch
  bool full_screen = false;           ///< of `top`, where there is a terminal
  bool wait = false;                  ///< of `move`: until it is done
  std::optional<ExportRun> exported;  ///< `command` asks for the host that is to be exported
  balancer::Command command;
  // If one of these is set, `command` says nothing.
  std::optional<SimRequest> sim;
  std::optional<RecordRun> record;
  std::optional<ReplayRun> replay;
  std::optional<DoctorRun> doctor;
  std::optional<ReportRun> report;
  std::optional<ForecastShowRun> forecast;
  std::optional<ForecastTrainRun> train;
  std::optional<OptimalRun> optimal;
  std::optional<RepackRun> repack;
};

/// The end of a run that asks nothing of the daemon: help, version, a wrong command line.
struct EarlyExit {
  int code = kExitOk;
  std::string text;  ///< for standard output if `code` is kExitOk, else for standard error
};

/// Reads the arguments of `vmnuma` (without the program's name). `now_unix_s` is what `--since 2h`
/// counts from.
[[nodiscard]] tl::expected<Invocation, EarlyExit> parse_arguments(
    std::span<const std::string> arguments, std::int64_t now_unix_s);

}  // namespace vmnuma::tools
