// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/outlook_apart.h"

#include <chrono>
#include <utility>

#include "balancer/record/frame.h"
#include "tools/vmnuma/commands/run_apart.h"
#include "tools/vmnuma/terminal/context.h"

namespace vmnuma::tools {

namespace {

using balancer::Outlook;

/// Extra time, beyond its own limit, after which a search that has not ended by itself is killed.
constexpr std::chrono::seconds kGrace{5};

/// Error: busy if the daemon has no outlook yet; any other means that the line cannot be read.
Result<Outlook> outlook_of(const std::string& line) {
  VMNUMA_ASSIGN_OR_RETURN(const auto frame, balancer::read_frame(line));
  const auto* header = std::get_if<balancer::HeaderFrame>(&frame.content);
  if (header == nullptr || header->controller == nullptr) {
    return failure(ErrorCode::kCorrupt, "the daemon's state cannot be read");
  }
  return header->controller->outlook();
}

/// The first byte of the process's answer: a result, a refusal by the daemon, or why there is
/// neither.
constexpr char kFound = '+';
constexpr char kRefused = '-';
constexpr char kWrong = '!';

std::string text_from(const std::string& line,
                      const std::function<std::string(const Outlook&)>& make) {
  const Result<Outlook> outlook = outlook_of(line);
  if (!outlook) {
    return (outlook.error().code == ErrorCode::kBusy ? kRefused : kWrong) + outlook.error().message;
  }
  return kFound + make(*outlook);
}

}  // namespace

OrFailure<std::string> make_apart(const Context& context, const OutlookSearch& search) {
  VMNUMA_ASSIGN_OR_RETURN(const auto state, context.ask(balancer::StateRequest{}));
  const ApartLimits limits{std::chrono::seconds(search.seconds) + kGrace, search.memory_mib << 20U};
  Result<std::string> told = run_apart([&] { return text_from(state.line, search.make); }, limits);
  if (!told) {
    const std::string trouble = told.error().message;
    told = run_apart(
        [&] {
          return text_from(state.line, [&](const Outlook& outlook) {
            return search.otherwise(outlook, trouble);
          });
        },
        ApartLimits{});
  }
  if (!told || told->empty()) {
    return tl::unexpected(
        answer_failure(told ? Error{ErrorCode::kCorrupt, 0, "there is no answer"}
                            : std::move(told).error().within("the daemon's state")));
  }
  const char kind = told->front();
  told->erase(0, 1);
  if (kind == kRefused) {
    return failure(ErrorCode::kBusy, *told);
  }
  if (kind != kFound) {
    return tl::unexpected(answer_failure({ErrorCode::kCorrupt, 0, *told}));
  }
  return std::move(*told);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace vmnuma::tools
