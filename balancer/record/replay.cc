// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/replay.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "balancer/controller/views.h"
#include "balancer/record/frame.h"
#include "balancer/record/playback.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostProposals = 20;

/// The surroundings of the first byte in which two texts differ.
std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 160;
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t from = at > kBefore ? at - kBefore : 0;
  return {a.substr(from, kShown), b.substr(std::min(from, b.size()), kShown)};
}

/// Plans made with other options, compared with the recorded ones.
class Comparison {
 public:
  explicit Comparison(OtherOptions options) : options_(std::move(options)) {}

  /// To be called before the controller gets the sample.
  void judge(Controller controller, const Event& sample) {
    for (const auto& [name, value] : options_) {
      (void)controller.on(
          CommandReceived{0, OptionsSetRequest{name, value, false}});  // checked before
    }
    (void)controller.on(sample);
    plan_ = controller.plan();
    std::set<std::string> planned;
    for (const Action& action : plan_.actions) {
      std::string text = action_text(controller.snapshot(), action);
      const std::string what = text.substr(0, text.find(';'));
      if (!before_.contains(what)) {
        count(action, result_.other_moves, result_.other_pulls);
        if (result_.proposals.size() < kMostProposals && action.reason != Reason::kMemoryPull) {
          result_.proposals.push_back(fmt::format("epoch {}: {}", plan_.epoch, text));
        }
      }
      planned.insert(what);
    }
    before_ = std::move(planned);
  }

  /// To be called after the controller got the sample.
  void compare(const Plan& recorded) {
    result_.epochs_that_differ += recorded.actions == plan_.actions ? 0 : 1;
    for (const Action& action : recorded.actions) {
      count(action, result_.recorded_moves, result_.recorded_pulls);
    }
  }

  [[nodiscard]] const OtherPolicy& result() const { return result_; }

 private:
  static void count(const Action& action, std::int64_t& moves, std::int64_t& pulls) {
    pulls += action.reason == Reason::kMemoryPull ? 1 : 0;
    moves += moves_a_home(action.reason) ? 1 : 0;
  }

  OtherOptions options_;
  Plan plan_;
  std::set<std::string> before_;
  OtherPolicy result_;
};

class Replayer {
 public:
  explicit Replayer(const OtherOptions& other) {
    if (!other.empty()) {
      comparison_.emplace(other);
    }
  }

  /// Takes a line. Error: it is not a possible next line.
  [[nodiscard]] Result<void> take(const std::string& line) {
    return playback_.take(line).map([this](const FrameContent& content) {
      std::visit([this](const auto& frame) { handle(frame); }, content);
    });
  }

  [[nodiscard]] ReplayReport report() && {
    if (comparison_) {
      report_.other = comparison_->result();
    }
    return std::move(report_);
  }
  void damaged(Error error) { report_.damage = std::move(error); }
  [[nodiscard]] bool has_begun() const { return playback_.has_begun(); }

 private:
  void handle(const HeaderFrame& header) {
    report_.version = header.version;
    report_.anonymized = header.anonymized;
  }
  void handle(const Event& event) {
    if (comparison_ && std::holds_alternative<SampleTaken>(event)) {
      comparison_->judge(playback_.controller(), event);
    }
    (void)playback_.controller().on(event);
  }
  void handle(const PlanFrame& recorded) {
    const Plan& plan = playback_.controller().plan();
    const std::string made = plan_text(plan, nullptr);
    ++report_.epochs;
    if (made != recorded.text) {
      ++report_.differing;
      if (!report_.first_difference) {
        auto [was, is] = first_difference(recorded.text, made);
        report_.first_difference = {playback_.line(), plan.epoch, std::move(was), std::move(is)};
      }
    }
    if (comparison_) {
      comparison_->compare(plan);
    }
  }

  Playback playback_;
  std::optional<Comparison> comparison_;
  ReplayReport report_;
};

}  // namespace

Result<ReplayReport> replay(const std::function<std::optional<std::string>()>& next_line,
                            const OtherOptions& other) {
  Options scratch;
  for (const auto& [name, value] : other) {
    VMNUMA_RETURN_IF_ERROR(set_option(scratch, name, value));
  }
  Replayer replayer(other);
  while (const std::optional<std::string> line = next_line()) {
    Result<void> taken = replayer.take(*line);
    if (!taken && !replayer.has_begun()) {
      return tl::unexpected(std::move(taken).error());
    }
    if (!taken) {
      replayer.damaged(std::move(taken).error());
      break;
    }
  }
  if (!replayer.has_begun()) {
    return failure(ErrorCode::kCorrupt, "the recording is empty");
  }
  return std::move(replayer).report();
}

}  // namespace vmnuma::balancer
