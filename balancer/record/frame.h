// SPDX-License-Identifier: Apache-2.0
/// A recording: what the controller was told and what it planned, line by line.
///
/// Problem: a decision is only explained if it can be made again from what was known at the time,
/// elsewhere and later, and a file that was cut off or damaged must not lead to wrong conclusions.
/// Approach: the controller is a machine of events, so its state at the beginning and all events
/// since are all there is to know; the plan of each epoch is beside them for comparison. One JSON
/// object a line, in vmnuma-recording(5):
///
///     {"frame":{"n":0,"header":{"format":2,"version":"0.1.0",...,"state":{...}}},"crc32":"1c291ca3"}
///     {"frame":{"n":1,"event":"sample","data":{...}},"crc32":"..."}
///     {"frame":{"n":2,"plan":{...}},"crc32":"..."}
///
/// Terms: *frame* - what is between {"frame": and ,"crc32": in a line, and whose checksum (CRC-32
/// of IEEE 802.3) follows; `n` counts frames from 0. Properties:
///  - a frame that is encoded and decoded is the same frame;
///  - a line of which any byte was changed or is missing is refused;
///  - numbers in a frame are as in the program, amounts in their smallest unit; enumerations are
///    written by name, and a name that this version does not know is refused;
///  - format 1, which has enumerations by their place, is still read;
///  - whatever the bytes of a line are, it is refused or read as values that are sound (sound.h) by
///    themselves; events are held against the controller's state when they are replayed.
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
inline constexpr std::int64_t kOldestRecordingFormat = 1;  ///< that is still read
/// A line comes from the daemon as part of an answer.
inline constexpr std::size_t kLongestFrame = kLongestAnswer;

/// The first frame, and that after a restart of the daemon: the state from which events go on.
struct HeaderFrame {
  std::string version;  ///< of the program that recorded
  std::int64_t epoch_length_ms = 0;
  bool anonymized = false;
  std::shared_ptr<Controller>
      controller;  ///< shared so that frames can be copied; nobody changes it
};
struct PlanFrame {
  std::string text;  ///< the plan as it is written in a frame
};
using FrameContent = std::variant<HeaderFrame, Event, PlanFrame>;

struct Frame {
  std::int64_t number = 0;
  FrameContent content;
};

/// Each gives a whole line with its '\n'. `anonymizer` may be null.
[[nodiscard]] std::string header_line(std::int64_t number, const Controller& controller,
                                      Anonymizer* anonymizer);
[[nodiscard]] std::string event_line(std::int64_t number, const Event& event,
                                     Anonymizer* anonymizer);
[[nodiscard]] std::string plan_line(std::int64_t number, const placement::Plan& plan,
                                    Anonymizer* anonymizer);
/// The text of a plan in its frame.
[[nodiscard]] std::string plan_text(const placement::Plan& plan, Anonymizer* anonymizer);

/// Reads a line, with or without its '\n'. Errors: corrupt; unsupported if it is of another format.
[[nodiscard]] Result<Frame> read_frame(std::string_view line);

/// Whether an event can change what is planned. Questions of the control socket cannot.
[[nodiscard]] bool matters(const Event& event);

}  // namespace vmnuma::balancer
