// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/optimal_command.h"

#include <chrono>
#include <string>
#include <utility>

#include "balancer/protocol/response.h"
#include "balancer/record/frame.h"
#include "tools/vmnuma/client.h"
#include "tools/vmnuma/optimal_text.h"
#include "tools/vmnuma/run_apart.h"
#include "tools/vmnuma/text.h"

namespace vmnuma::tools {

namespace {

using balancer::Outlook;
using balancer::Repack;

/// Beyond its own limit, until a search that does not end by itself is ended.
constexpr std::chrono::seconds kGrace{5};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

tl::expected<Outlook, Refusal> ask_outlook(const Invocation& invocation,
                                           const Surroundings& surroundings) {
  const auto wrong = [](Error error) {
    return tl::unexpected(Refusal{/*by_daemon=*/false, std::move(error)});
  };
  const auto result =
      ask(invocation.socket_path, balancer::StateRequest{}, surroundings.time_limit);
  if (!result) {
    return tl::unexpected(result.error());
  }
  const auto view = balancer::decode_view<balancer::StateView>(*result);
  if (!view) {
    return wrong(view.error());
  }
  const Result<balancer::Frame> frame = balancer::read_frame(view->line);
  if (!frame) {
    return wrong(frame.error());
  }
  const auto* header = std::get_if<balancer::HeaderFrame>(&frame->content);
  if (header == nullptr || header->controller == nullptr) {
    return wrong({ErrorCode::kCorrupt, 0, "the daemon's state cannot be read"});
  }
  Result<Outlook> outlook = header->controller->outlook();
  if (!outlook) {
    return tl::unexpected(Refusal{/*by_daemon=*/true, std::move(outlook).error()});
  }
  return std::move(*outlook);
}

}  // namespace

tl::expected<std::string, Refusal> find_optimal_plan(const Invocation& invocation,
                                                     const OptimalRun& search, bool json,
                                                     const Surroundings& surroundings) {
  const auto outlook = ask_outlook(invocation, surroundings);
  if (!outlook) {
    return tl::unexpected(outlook.error());
  }
  const auto text = [&](const Repack& repack) {
    return json ? json_of(repack, *outlook) : text_of(repack, *outlook);
  };
  const auto solve = [&] {
    return text(plan_repack(outlook->snapshot, outlook->options, outlook->circumstances,
                            {static_cast<double>(search.seconds), placement::Permille{search.gap}},
                            seconds));
  };
  const Result<std::string> solved =
      run_apart(solve, {std::chrono::seconds(search.seconds) + kGrace, search.memory_mib << 20U});
  return solved ? *solved
                : text(plan_without_solver(outlook->snapshot, outlook->options,
                                           outlook->circumstances, solved.error().message));
}

int run_optimal(const Invocation& invocation, Surroundings& surroundings) {
  const auto found =
      find_optimal_plan(invocation, *invocation.optimal, invocation.json, surroundings);
  if (!found) {
    surroundings.err << invocation.program << ": " << printable(found.error().error.message)
                     << std::endl;
    return found.error().by_daemon ? kExitRefused : kExitUnreachable;
  }
  surroundings.out << *found << std::flush;
  if (!surroundings.out) {
    surroundings.err << invocation.program << ": cannot write to standard output" << std::endl;
    return kExitRefused;
  }
  return kExitOk;
}

}  // namespace vmnuma::tools
