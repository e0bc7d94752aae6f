// SPDX-License-Identifier: Apache-2.0
// `vmnuma record` and `vmnuma replay`.
//
// `record` writes a recording of the daemon to a new file until enough epochs have passed or it is
// interrupted. `replay` recomputes the plans of a recording and reports whether they are the same.
// It needs no daemon. Its exit code is kExitRefused if a plan differs or the file is damaged,
// kExitUsage if the file is not a recording or an option is wrong.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/record/frame.h"
#include "balancer/record/replay.h"
#include "stats/files/line_reader.h"
#include "stats/text/json.h"
#include "tools/client/process_limits.h"
#include "tools/vmnuma/commands/recording_file.h"
#include "tools/vmnuma/commands/run_apart.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/progress_bar.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// How long to wait for more epochs.
constexpr std::chrono::milliseconds kWaitsForEpochs{1000};

constexpr ApartLimits kReplayLimits{.time = std::chrono::hours(24),
                                    .memory_bytes = kPlaybackLimits.memory_bytes,
                                    .cpu_time = kPlaybackLimits.cpu_time};

nlohmann::ordered_json replay_json(const balancer::ReplayReport& report) {
  nlohmann::ordered_json json = {{"version", report.version},
                                 {"anonymized", report.anonymized},
                                 {"epochs", report.epochs},
                                 {"differing", report.differing},
                                 {"first_difference", nullptr},
                                 {"other", nullptr},
                                 {"damage", nullptr}};
  if (report.first_difference) {
    const auto& first = *report.first_difference;
    json["first_difference"] = {{"line", first.line},
                                {"epoch", first.epoch},
                                {"recorded", first.recorded},
                                {"replayed", first.replayed}};
  }
  if (report.other) {
    const auto& other = *report.other;
    json["other"] = {{"epochs_that_differ", other.epochs_that_differ},
                     {"recorded_moves", other.recorded_moves},
                     {"other_moves", other.other_moves},
                     {"recorded_pulls", other.recorded_pulls},
                     {"other_pulls", other.other_pulls},
                     {"proposals", other.proposals}};
  }
  if (report.damage) {
    json["damage"] = report.damage->message;
  }
  return json;
}

std::string replay_text(const balancer::ReplayReport& report) {
  std::string out = fmt::format(
      "{} recomputed, {}\n", counted_text(report.epochs, "plan"),
      report.differing == 0 ? "all identical" : fmt::format("{} differ", report.differing));
  if (report.version != VMNUMA_VERSION) {
    out += fmt::format("It was recorded by version {}, this is {}.\n", printable(report.version),
                       VMNUMA_VERSION);
  }
  if (report.first_difference) {
    const auto& first = *report.first_difference;
    out +=
        fmt::format("\nThe first one in line {}, epoch {}\n  recorded: {}\n  replayed: {}\n",
                    first.line, first.epoch, printable(first.recorded), printable(first.replayed));
  }
  if (report.other) {
    const auto& other = *report.other;
    out += fmt::format(
        "\nWith the other options {} of {} plans do something else.\n"
        "  moves         recorded {:>5}, proposed {:>5}\n"
        "  memory pulls  recorded {:>5}, proposed {:>5}\n",
        other.epochs_that_differ, report.epochs, other.recorded_moves, other.other_moves,
        other.recorded_pulls, other.other_pulls);
    out += wrapped(
        "Every epoch is judged by itself, with the homes as they were. What load and memory would "
        "have been after another move is not in a recording; what is proposed again in the next "
        "epoch is counted once.",
        /*indent=*/0);
    for (const std::string& proposal : other.proposals) {
      out += wrapped(proposal, /*indent=*/2);
    }
  }
  return out;
}

/// What the replaying process wants to show and return.
struct Told {
  int code = kExitOk;
  std::string message;
  std::string text;
};

std::string encoded(const Told& told) {
  return text::json_text(
      nlohmann::json{{"code", told.code}, {"message", told.message}, {"text", told.text}});
}

Result<Told> decoded(const std::string& text) {
  try {
    return text::read_json<nlohmann::json>(text, {text.size()}, "what was replayed")
        .map([](const nlohmann::json& told) {
          return Told{told.at("code").get<int>(), told.at("message").get<std::string>(),
                      told.at("text").get<std::string>()};
        });
  } catch (const nlohmann::json::exception& exception) {
    return failure(ErrorCode::kCorrupt, exception.what());
  }
}

Told replayed(files::LineReader& file, const ReplayRun& run, const Context& context) {
  const std::string& path = run.path;
  std::error_code unknown;  // if set, there is no progress bar
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  ProgressBar bar(context, "replay");
  std::int64_t bytes = 0;
  const auto report = balancer::replay(
      [&] {
        std::optional<std::string> line = file.next();
        bytes += line ? static_cast<std::int64_t>(line->size()) + 1 : 0;
        bar.show(bytes, unknown ? 0 : static_cast<std::int64_t>(size), /*note=*/"");
        return line;
      },
      run.options);
  bar.hide();
  if (!report) {
    return {kExitUsage, fmt::format("'{}': {}", path, report.error().message), ""};
  }
  Told told;
  told.text =
      context.invocation.json ? text::json_text(replay_json(*report)) + "\n" : replay_text(*report);
  told.code = report->differing == 0 ? kExitOk : kExitRefused;
  if (report->damage) {
    told.code = kExitRefused;
    told.message =
        fmt::format("'{}': {}; what comes before was replayed", path, report->damage->message);
  }
  return told;
}

}  // namespace

OrFailure<int> RecordRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(auto view, context.ask(request));
  const auto stop = [&] { return context.ask(balancer::RecordStopRequest{view.recording}); };
  // Created only now, so that no file is left behind if the daemon refuses.
  Result<RecordingFile> file = RecordingFile::create(path);
  if (!file) {
    (void)stop();  // the result that matters is reported below
    return tl::unexpected(usage_failure(std::move(file).error()));
  }
  bool stopped = false;
  while (true) {
    if (auto written = file->write(view.lines); !written) {
      (void)stop();
      return tl::unexpected(std::move(written).error());
    }
    if (!view.more && (stopped || view.complete)) {
      return context.print({{"file", path}, {"epochs", view.epochs}},
                           fmt::format("{} epochs are in '{}'\n", view.epochs, printable(path)));
    }
    if (!view.more && !view.ended.empty()) {
      return failure(ErrorCode::kUnavailable, "the recording ended: " + view.ended);
    }
    const bool is_enough = !view.more && !context.surroundings.pause(kWaitsForEpochs);
    VMNUMA_ASSIGN_OR_RETURN(
        auto next, is_enough ? stop() : context.ask(balancer::RecordNextRequest{view.recording}));
    view = std::move(next);
    stopped = stopped || is_enough;
  }
}

OrFailure<int> ReplayRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(
      auto file, files::LineReader::open(path, balancer::kLongestFrame).map_error(usage_failure));
  auto told = run_apart([&] { return encoded(replayed(file, *this, context)); }, kReplayLimits)
                  .and_then(decoded);
  if (!told) {
    return failure(std::move(told).error(), fmt::format("'{}' cannot be replayed", path));
  }
  if (const int printed = context.print(told->text); printed != kExitOk) {
    return printed;
  }
  if (!told->message.empty()) {
    return tl::unexpected(Failure({ErrorCode::kCorrupt, 0, told->message}, told->code));
  }
  return told->code;
}

}  // namespace vmnuma::tools
