// SPDX-License-Identifier: Apache-2.0
/// A recording: the controller's input and its plans, line by line.
///
/// Problem: a decision is only explained if it can be reproduced, elsewhere and later, from what
/// was known at the time; and a truncated or damaged file must not lead to wrong conclusions.
/// Approach: the controller is an event machine, so its initial state and all events since are
/// complete; the plan of each epoch is added for comparison. One JSON object per line, as in
/// vmnuma-recording(5):
///
///     {"frame":{"n":0,"header":{"format":2,"version":"0.1.0",...,"state":{...}}},"crc32":"1c291ca3"}
///     {"frame":{"n":1,"event":"sample","data":{...}},"crc32":"..."}
///     {"frame":{"n":2,"plan":{...}},"crc32":"..."}
///
/// Terms: *frame* - what is between {"frame": and ,"crc32": in a line, followed by its checksum
/// (CRC-32 of IEEE 802.3); `n` counts frames from 0. Properties:
///  - a frame that is encoded and decoded is the same frame;
///  - a line with a changed or missing byte is refused;
///  - numbers in a frame are as in the program, amounts in their smallest unit; enumerations are
///    written by name, and a name unknown to this version is refused;
///  - format 1, which has enumerations by position, is still read;
///  - whatever the bytes of a line are, it is refused or read as values that are sound (sound.h) in
///    themselves; events are checked against the controller's state when they are replayed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "balancer/controller/controller.h"
#include "balancer/protocol/response.h"
#include "balancer/record/anonymizer.h"
#include "placement/base/result.h"

namespace vmnuma::balancer {

inline constexpr std::int64_t kRecordingFormat = 2;
inline constexpr std::int64_t kOldestRecordingFormat = 1;  ///< still readable
/// Limited because the daemon sends a line as part of an answer.
inline constexpr std::size_t kLongestFrame = kLongestAnswer;

/// The state that the following events apply to: the first frame, and another after each restart of
/// the daemon.
struct HeaderFrame {
  std::string version;  ///< of the recording program
  std::int64_t epoch_length_ms = 0;
  bool anonymized = false;
  std::shared_ptr<Controller> controller;  ///< immutable; shared so that frames can be copied
};
struct PlanFrame {
  std::string text;  ///< the plan as written in the frame
};
using FrameContent = std::variant<HeaderFrame, Event, PlanFrame>;

struct Frame {
  std::int64_t number = 0;
  FrameContent content;
};

/// These return a whole line with its '\n'. `anonymizer` may be null.
[[nodiscard]] std::string header_line(std::int64_t number, const Controller& controller,
                                      Anonymizer* anonymizer);
[[nodiscard]] std::string event_line(std::int64_t number, const Event& event,
                                     Anonymizer* anonymizer);
[[nodiscard]] std::string plan_line(std::int64_t number, const Plan& plan, Anonymizer* anonymizer);
/// The text of a plan as in its frame.
[[nodiscard]] std::string plan_text(const Plan& plan, Anonymizer* anonymizer);

/// Parses a line, with or without its '\n'. Errors: corrupt; unsupported if it has another format.
[[nodiscard]] Result<Frame> read_frame(std::string_view line);

/// True if an event can affect plans. Questions of the control socket cannot.
[[nodiscard]] bool matters(const Event& event);

}  // namespace vmnuma::balancer
