// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/playback.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "balancer/record/sound.h"

namespace vmnuma::balancer {

Result<FrameContent> Playback::take(const std::string& line) {
  ++line_;
  Result<Frame> frame = read_frame(line);
  if (!frame) {
    return failure(std::move(frame).error(), fmt::format("line {}", line_));
  }
  if (frame->number != static_cast<std::int64_t>(line_) - 1) {
    return failure(ErrorCode::kCorrupt, fmt::format("line {}: it is frame {}, but must be frame {}",
                                                    line_, frame->number, line_ - 1));
  }
  if (const auto* header = std::get_if<HeaderFrame>(&frame->content)) {
    controller_ = header->controller;
  } else if (controller_ == nullptr) {
    return failure(ErrorCode::kCorrupt, "line 1: the recording does not begin with a header");
  }
  if (const auto* event = std::get_if<Event>(&frame->content)) {
    if (Result<void> sound = check_event(*event, controller_->ledger()); !sound) {
      return failure(std::move(sound).error(), fmt::format("line {}", line_));
    }
  }
  return std::move(frame->content);
}

}  // namespace vmnuma::balancer
