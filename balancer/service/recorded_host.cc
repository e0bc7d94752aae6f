// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/recorded_host.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "balancer/record/playback.h"
#include "balancer/record/recorder.h"
#include "balancer/service/history_answer.h"
#include "balancer/service/history_rows.h"
#include "balancer/service/recent_events.h"
#include "stats/files/line_reader.h"
#include "stats/history/epoch_rows.h"
#include "stats/reports/latency_rows.h"

namespace vmnuma::balancer {

class RecordedHost::Showing {
 public:
  Showing(files::LineReader file, std::unique_ptr<stats::History> history)
      : file_(std::move(file)), history_(std::move(history)) {}

  /// Advances to after the next plan; `say` receives what was logged. Error: that of the history.
  [[nodiscard]] Result<void> advance(const std::function<void(const LogLine&)>& say);
  [[nodiscard]] Result<Answer> answer(const Command& question, const std::string& path);

  [[nodiscard]] std::int64_t position() const { return position_; }
  [[nodiscard]] const std::string& end() const { return end_; }
  [[nodiscard]] std::chrono::milliseconds epoch_length() const { return epoch_length_; }

 private:
  [[nodiscard]] Result<void> take(const Event& event,
                                  const std::function<void(const LogLine&)>& say);
  [[nodiscard]] Result<void> keep(const Effects& effects);

  files::LineReader file_;
  Playback playback_;
  std::unique_ptr<stats::History> history_;
  RecentEvents events_;
  std::chrono::milliseconds epoch_length_{};
  stats::WallTime wall_{};  ///< of the last sample
  std::int64_t position_ = 0;
  std::string end_;
};

namespace {

/// Used for epochs that are played again, so that nothing is logged twice.
void discard_line(const LogLine& /*line*/) {}

std::vector<VmDescription> running_in(const Ledger& ledger) {
  std::vector<VmDescription> running;
  for (const auto& [id, vm] : ledger.vms()) {
    running.push_back(vm.description);
  }
  return running;
}

}  // namespace

RecordedHost::RecordedHost(Setup setup) : setup_(std::move(setup)) {}
RecordedHost::~RecordedHost() = default;

std::int64_t RecordedHost::position() const {
  return showing_->position();
}
const std::string& RecordedHost::end() const {
  return showing_->end();
}
std::chrono::milliseconds RecordedHost::epoch_length() const {
  return showing_->epoch_length();
}

Result<std::unique_ptr<RecordedHost>> RecordedHost::open(Setup setup) {
  std::unique_ptr<RecordedHost> host(new RecordedHost(std::move(setup)));
  VMNUMA_ASSIGN_OR_RETURN(host->showing_, host->begin());
  return host;
}

/// Plays from the start to after the first epoch. What was logged there is passed on only the first
/// time.
Result<std::unique_ptr<RecordedHost::Showing>> RecordedHost::begin() const {
  VMNUMA_ASSIGN_OR_RETURN(auto file, files::LineReader::open(setup_.path, kLongestFrame));
  VMNUMA_ASSIGN_OR_RETURN(auto history, setup_.empty_history());
  auto showing = std::make_unique<Showing>(std::move(file), std::move(history));
  VMNUMA_RETURN_IF_ERROR(showing->advance(showing_ == nullptr ? setup_.say : discard_line));
  if (showing->position() == 0) {
    return failure(ErrorCode::kCorrupt, fmt::format("'{}': {}", setup_.path, showing->end()));
  }
  return showing;
}

Result<void> RecordedHost::step(std::int64_t epochs) {
  if (epochs >= 0) {
    Result<void> done;
    for (; done && epochs > 0 && end().empty() && !setup_.is_stopped(); --epochs) {
      done = showing_->advance(setup_.say);
    }
    return done;
  }
  const std::int64_t wanted = position() + std::max(epochs, 1 - position());
  VMNUMA_ASSIGN_OR_RETURN(auto begun, begin());
  Showing& before = *begun;
  while (before.position() < wanted && before.end().empty() && !setup_.is_stopped()) {
    VMNUMA_RETURN_IF_ERROR(before.advance(discard_line));
  }
  showing_ = std::move(begun);
  return {};
}

Result<Answer> RecordedHost::answer(const Command& question) {
  return showing_->answer(question, setup_.path);
}

Result<void> RecordedHost::Showing::advance(const std::function<void(const LogLine&)>& say) {
  while (const std::optional<std::string> line = file_.next()) {
    Result<FrameContent> frame = playback_.take(*line);
    if (!frame) {
      end_ = fmt::format("the recording is damaged, {}", frame.error().message);
      return {};
    }
    if (const auto* header = std::get_if<HeaderFrame>(&*frame)) {
      epoch_length_ = std::chrono::milliseconds(header->epoch_length_ms);
    } else if (const auto* event = std::get_if<Event>(&*frame)) {
      VMNUMA_RETURN_IF_ERROR(take(*event, say));
    } else {
      ++position_;
      return {};
    }
  }
  end_ = position_ == 0 ? "there is no epoch in it"
                        : fmt::format("the recording ends after its {} epochs", position_);
  return {};
}

Result<void> RecordedHost::Showing::take(const Event& event,
                                         const std::function<void(const LogLine&)>& say) {
  if (const auto* sample = std::get_if<SampleTaken>(&event)) {
    wall_ = stats::WallTime(std::chrono::seconds(sample->wall_unix_s));
  }
  const Effects effects = playback_.controller().on(event);
  for (const LogLine& line : effects.log) {
    events_.add(line, std::chrono::floor<std::chrono::seconds>(wall_).time_since_epoch().count());
    say(line);
  }
  return keep(effects).map([&] {
    const auto* progress = std::get_if<ActionProgressed>(&event);
    if (progress != nullptr && progress->event.kind == migration::ActionEvent::Kind::kFinished) {
      // An action that began before the recording is in no history.
      (void)history_->close_action(progress->event.action, action_state(progress->event.state),
                                   progress->event.detail);
    }
  });
}

/// Stores what the service would have stored.
Result<void> RecordedHost::Showing::keep(const Effects& effects) {
  for (const migration::Order& order : effects.orders) {
    VMNUMA_RETURN_IF_ERROR(history_->open_action(action_row(order, wall_)));
  }
  for (const OutcomeMeasured& outcome : effects.outcomes) {
    (void)history_->set_outcome(outcome.action, outcome_row(outcome));  // as above
  }
  for (const StartNotAdmitted& start : effects.not_admitted) {
    VMNUMA_RETURN_IF_ERROR(history_->record_action(not_admitted_row(start, wall_),
                                                   stats::ActionState::kDropped, start.detail));
  }
  for (const ReservationChanged& change : effects.reservation_changes) {
    VMNUMA_RETURN_IF_ERROR(
        history_->record_reservation_event(reservation_event_row(change, wall_)));
  }
  return effects.epoch ? history_->append_epoch(stats::epoch_rows(effects.epoch->snapshot, wall_))
                       : Result<void>();
}

Result<Answer> RecordedHost::Showing::answer(const Command& question, const std::string& path) {
  Controller& controller = playback_.controller();
  if (changes_something(question)) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("this daemon shows the recording '{}', in which nothing can be changed", path));
  }
  if (const auto* asked = std::get_if<HistoryRequest>(&question)) {
    return history_answer(*history_, *asked,
                          {running_in(controller.ledger()), controller.ledger().topology()});
  }
  if (const auto* asked = std::get_if<ReservationHistoryRequest>(&question)) {
    return reservation_history_answer(*history_, *asked);
  }
  if (const auto* asked = std::get_if<EventsRequest>(&question)) {
    if (!asked->vm) {
      return Answer(events_.answer(*asked));
    }
    EventsRequest of_name = *asked;
    if (const auto name = past_vm_name(*history_, *asked->vm, running_in(controller.ledger()))) {
      of_name.vm = *name;
    } else if (asks_about_unknown_vm(*asked, events_)) {
      return tl::unexpected(name.error());
    }
    return Answer(events_.answer(of_name));
  }
  if (std::holds_alternative<StateRequest>(question)) {
    return state_of(controller);
  }
  if (const auto* asked = std::get_if<StatsRequest>(&question);
      asked != nullptr && asked->type == stats::kLatencyTable) {
    return failure(ErrorCode::kUnsupported, "recordings have no latencies");
  }
  if (std::holds_alternative<ConfigRequest>(question)) {
    return failure(ErrorCode::kUnsupported,
                   "recordings have no configuration; 'vmnuma options list' shows its options");
  }
  Result<Answer> answer = controller.answer(question);
  if (auto* status = answer ? std::get_if<StatusView>(&*answer) : nullptr) {
    status->version = VMNUMA_VERSION;  // of the answering program
    status->uri = std::string(kRecordedUri) + path;
    status->host_name = std::filesystem::path(path).filename();
    status->recorded_unix_s =
        std::chrono::floor<std::chrono::seconds>(wall_).time_since_epoch().count();
    status->history = {history_->path(), "ok"};
  }
  return answer;
}

}  // namespace vmnuma::balancer
