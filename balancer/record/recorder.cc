// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/recorder.h"

#include <utility>

#include <fmt/format.h>

#include "balancer/record/frame.h"

namespace vmnuma::balancer {

namespace {

/// For one answer; JSON escapes make it longer.
constexpr std::size_t kMostBytesInAnswer = std::size_t{6} << 20U;

}  // namespace

void Recorder::begin(const Controller& controller, bool anonymize,
                     std::optional<std::int64_t> epochs) {
  if (!running_) {
    running_ = true;
    ended_because_.clear();
    if (anonymize) {
      anonymizer_.emplace();
    } else {
      anonymizer_.reset();
    }
    ++recording_;
    next_number_ = 0;
    epochs_ = 0;
    most_epochs_ = epochs;
    complete_ = false;
    epochs_alone_ = 0;
    bytes_ = 0;
    lines_.clear();
  }
  add(header_line(next_number_++, controller, anonymizer_ ? &*anonymizer_ : nullptr));
}

void Recorder::end(std::string why) {
  running_ = false;
  ended_because_ = std::move(why);
}

void Recorder::add(std::string line) {
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  if (bytes_ > kMostBytes) {
    end("its client did not read fast enough");
  } else if (anonymizer_ && !anonymizer_->order_is_kept()) {
    lines_.pop_back();
    end("too many VMs were started to keep their order without their UUIDs");
  }
}

Effects Recorder::pass(Controller& controller, const Event& event) {
  Anonymizer* anonymizer = anonymizer_ ? &*anonymizer_ : nullptr;
  if (running_ && matters(event)) {
    add(event_line(next_number_++, event, anonymizer));
  }
  Effects effects = controller.on(event);
  if (running_ && effects.epoch) {
    add(plan_line(next_number_++, controller.plan(), anonymizer));
    complete_ = ++epochs_ == most_epochs_;
    if (complete_) {
      end("it has the requested number of epochs");
    } else if (++epochs_alone_ > kPatience) {
      end(fmt::format("no request for it came for {} epochs", kPatience));
      lines_.clear();
    }
  }
  return effects;
}

std::vector<std::string> Recorder::take_lines(std::size_t most_bytes) {
  epochs_alone_ = 0;
  std::size_t taken = 0;
  std::size_t bytes = 0;
  while (taken < lines_.size() && (taken == 0 || bytes + lines_[taken].size() <= most_bytes)) {
    bytes += lines_[taken++].size();
  }
  std::vector<std::string> rest(
      std::make_move_iterator(lines_.begin() + static_cast<std::ptrdiff_t>(taken)),
      std::make_move_iterator(lines_.end()));
  lines_.resize(taken);
  bytes_ -= bytes;
  return std::exchange(lines_, std::move(rest));
}

Result<Answer> Recorder::answer(const Command& command, const Controller& controller) {
  RecordingView view;
  if (const auto* start = std::get_if<RecordStartRequest>(&command)) {
    if (running_) {
      return failure(ErrorCode::kBusy, "another client is recording already");
    }
    begin(controller, start->anonymize, start->epochs);
  } else {
    const auto* next = std::get_if<RecordNextRequest>(&command);
    const auto* stop = std::get_if<RecordStopRequest>(&command);
    const std::int64_t asked = next != nullptr ? next->recording : stop->recording;
    if (asked != recording_ || recording_ == 0) {
      return failure(ErrorCode::kNotFound,
                     fmt::format("there is no recording {}, or it has ended", asked));
    }
    if (stop != nullptr) {
      end("it was stopped");
    }
  }
  view.recording = recording_;
  view.lines = take_lines(kMostBytesInAnswer);
  view.more = !lines_.empty();
  view.epochs = epochs_;
  view.complete = complete_;
  view.ended = running_ ? "" : ended_because_;
  return Answer(std::move(view));
}

Answer state_of(const Controller& controller) {
  return StateView{header_line(0, controller, nullptr)};
}

}  // namespace vmnuma::balancer
