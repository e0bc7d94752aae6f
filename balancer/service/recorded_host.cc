// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recorded_host.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/record/recorder.h"
#include "balancer/service/history_answer.h"
#include "balancer/service/history_rows.h"
#include "stats/history/epoch_rows.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

Result<std::unique_ptr<RecordedHost>> RecordedHost::open(Setup setup) {
  std::unique_ptr<RecordedHost> host(new RecordedHost(std::move(setup)));
  if (Result<void> begun = host->begin(); !begun) {
    return failure(std::move(begun).error(), fmt::format("'{}'", host->setup_.path));
  }
  return host;
}

/// From the start to after the first epoch.
Result<void> RecordedHost::begin() {
  std::error_code unreadable;
  const auto kind = std::filesystem::status(setup_.path, unreadable).type();
  if (kind == std::filesystem::file_type::not_found) {
    return failure(ErrorCode::kNotFound, "there is no such file");
  }
  if (kind != std::filesystem::file_type::regular) {
    return failure(ErrorCode::kInvalidArgument, "it is no file, and cannot be read more than once");
  }
  file_ = std::ifstream(setup_.path);
  if (!file_) {
    return failure(errno == EACCES ? ErrorCode::kPermissionDenied : ErrorCode::kIo,
                   fmt::format("cannot be opened: {}", std::strerror(errno)), errno);
  }
  history_.reset();  // before another one takes its place
  auto history = setup_.empty_history();
  if (!history) {
    return tl::unexpected(std::move(history).error());
  }
  history_ = std::move(*history);
  playback_ = {};
  events_.clear();
  position_ = 0;
  end_.clear();
  return advance().and_then([this]() -> Result<void> {
    if (position_ == 0) {
      return failure(ErrorCode::kCorrupt, end_);
    }
    return {};
  });
}

/// To after the next plan. Error: of the history.
Result<void> RecordedHost::advance() {
  while (const std::optional<std::string> line = next_line_of(file_)) {
    Result<FrameContent> frame = playback_.take(*line);
    if (!frame) {
      end_ = fmt::format("the recording is damaged, {}", frame.error().message);
      return {};
    }
    if (const auto* header = std::get_if<HeaderFrame>(&*frame)) {
      epoch_length_ = std::chrono::milliseconds(header->epoch_length_ms);
    } else if (const auto* event = std::get_if<Event>(&*frame)) {
      if (Result<void> taken = take(*event); !taken) {
        return taken;
      }
    } else {
      ++position_;
      return {};
    }
  }
  end_ = position_ == 0 ? "there is no epoch in it"
                        : fmt::format("the recording ends after its {} epochs", position_);
  return {};
}

Result<void> RecordedHost::step(std::int64_t epochs) {
  const std::int64_t wanted = std::max<std::int64_t>(position_ + epochs, 1);
  Result<void> done;
  if (wanted < position_) {
    is_told_ = false;
    done = begin();
  }
  while (done && position_ < wanted && end_.empty() && !setup_.is_stopped()) {
    done = advance();
  }
  is_told_ = true;
  return done;
}

Result<void> RecordedHost::take(const Event& event) {
  if (const auto* sample = std::get_if<SampleTaken>(&event)) {
    wall_ = stats::WallTime(std::chrono::seconds(sample->wall_unix_s));
  }
  const Effects effects = playback_.controller().on(event);
  for (const LogLine& line : effects.log) {
    events_.add(line, std::chrono::floor<std::chrono::seconds>(wall_).time_since_epoch().count());
    if (is_told_) {
      setup_.say(line);
    }
  }
  return keep(effects).and_then([&]() -> Result<void> {
    const auto* progress = std::get_if<ActionProgressed>(&event);
    if (progress == nullptr || progress->event.kind != migration::ActionEvent::Kind::kFinished) {
      return {};
    }
    // One that was begun before the recording is in no history.
    (void)history_->close_action(progress->event.action, action_state(progress->event.state),
                                 progress->event.detail);
    return {};
  });
}

/// What the service would have kept.
Result<void> RecordedHost::keep(const Effects& effects) {
  for (const migration::Order& order : effects.orders) {
    if (Result<void> opened = history_->open_action(action_row(order, wall_)); !opened) {
      return opened;
    }
  }
  for (const OutcomeMeasured& outcome : effects.outcomes) {
    (void)history_->set_outcome(outcome.action, outcome_row(outcome));  // likewise
  }
  for (const StartNotAdmitted& start : effects.not_admitted) {
    if (Result<void> noted = history_->note_action(not_admitted_row(start, wall_),
                                                   stats::ActionState::kDropped, start.detail);
        !noted) {
      return noted;
    }
  }
  return effects.epoch ? history_->append_epoch(stats::epoch_rows(effects.epoch->snapshot, wall_))
                       : Result<void>();
}

Result<Answer> RecordedHost::answer(const Command& question) {
  Controller& controller = playback_.controller();
  if (changes_something(question)) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("this is a recording, '{}', in which nothing can be changed any more",
                    setup_.path));
  }
  if (const auto* asked = std::get_if<HistoryRequest>(&question)) {
    std::vector<placement::VmDescription> running;
    for (const auto& [id, vm] : controller.ledger().vms()) {
      running.push_back(vm.description);
    }
    return history_answer(*history_, *asked, running);
  }
  if (const auto* asked = std::get_if<EventsRequest>(&question)) {
    return Answer(events_.answer(*asked));
  }
  if (std::holds_alternative<StateRequest>(question)) {
    return state_of(controller);
  }
  if (const auto* asked = std::get_if<StatsRequest>(&question);
      asked != nullptr && asked->type == stats::kLatencyTable) {
    return failure(ErrorCode::kUnsupported, "latencies are in no recording");
  }
  Result<Answer> answer = controller.answer(question);
  if (auto* status = answer ? std::get_if<StatusView>(&*answer) : nullptr) {
    status->version = VMNUMA_VERSION;  // that answers
    status->uri = std::string(kRecordedUri) + setup_.path;
    status->history = {history_->path(), "ok"};
  }
  return answer;
}

}  // namespace vmnuma::balancer
