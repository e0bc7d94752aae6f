// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/run.h"

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/vmnuma/commands/follow_action.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/terminal/progress_bar.h"
#include "tools/vmnuma/terminal/watch.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"
#include "tools/vmnuma/text/view_text.h"
#include "tools/vmnuma/top/run_top.h"
#include "tools/vmnuma/top/top_frame.h"

namespace vmnuma::tools {

namespace {

using balancer::DoneView;

/// Returns a command's text for standard output.
OrFailure<std::string> text_for(const balancer::Command& command, const std::string& result,
                                ListFormat format) {
  return std::visit(
      [&]<class Request>(const Request& /*request*/) -> OrFailure<std::string> {
        using View = typename Request::View;
        if constexpr (requires(const View& view) { listing_of(view); }) {
          if (format != ListFormat::kTable) {
            return read_view<View>(result).map(
                [format](const View& view) { return text_of(listing_of(view), format); });
          }
        }
        if constexpr (requires(const View& view) { text_of(view); }) {
          return read_view<View>(result).map([](const View& view) { return text_of(view); });
        } else {
          return tl::unexpected(
              answer_failure({ErrorCode::kUnsupported, 0,
                              fmt::format("the answer to '{}' can be printed only with --json",
                                          Request::kCommand)}));
        }
      },
      command);
}

/// Asks the daemon and returns its answer, as JSON or as text for humans.
OrFailure<std::string> answer_to(const balancer::Command& command, const Context& context) {
  const Invocation& invocation = context.invocation;
  VMNUMA_ASSIGN_OR_RETURN(const auto result, context.ask_text(command));
  if (invocation.json) {
    return result + "\n";
  }
  if (std::holds_alternative<balancer::StatsRequest>(command)) {
    VMNUMA_ASSIGN_OR_RETURN(const auto report, read_view<stats::Report>(result));
    VMNUMA_RETURN_IF_ERROR(check_group(report, invocation.shape));
    return text_of(report, invocation.shape);
  }
  if (std::holds_alternative<balancer::HostRequest>(command)) {
    VMNUMA_ASSIGN_OR_RETURN(auto status, context.ask(balancer::StatusRequest{}));
    VMNUMA_ASSIGN_OR_RETURN(const auto host, read_view<balancer::HostView>(result));
    return top_text(top_host(std::move(status), host));
  }
  return text_for(command, result, invocation.format);
}

/// Shows how much memory of an unfinished action has moved. If that is unavailable, this is not a
/// reason to stop.
void show_transfer(const Context& context, std::int64_t action, ProgressBar& bar) {
  const auto status = context.ask(balancer::StatusRequest{});
  const auto transfers = status ? status->transfers : std::vector<balancer::TransferView>{};
  const auto found = std::find_if(
      transfers.rbegin(), transfers.rend(),
      [&](const balancer::TransferView& transfer) { return transfer.action == action; });
  if (found == transfers.rend()) {
    bar.show(0, 0, "waiting");
    return;
  }
  bar.show(found->bytes_done, found->bytes_done + found->bytes_remaining,
           found->state == "running" ? fmt::format("{}, {}/s", bytes_text(found->bytes_done),
                                                   bytes_text(found->rate_bytes_per_second))
                                     : found->state);
}

/// Prints the result of a move that was waited for.
int print_done(const Context& context, const DoneView& done, const balancer::HistoryRowView& row) {
  nlohmann::ordered_json json = {{"message", done.message}, {"action", *done.action},
                                 {"state", row.state},      {"detail", row.detail},
                                 {"moved_bytes", nullptr},  {"seconds", nullptr}};
  if (row.outcome) {
    json["moved_bytes"] = row.outcome->moved_bytes;
    json["seconds"] = static_cast<double>(row.outcome->took_ms) / 1000;
  }
  return context.print(json, wrapped(row.detail, /*indent=*/0));
}

/// Moves, and follows the move in the history until it is done.
OrFailure<int> move_and_wait(const balancer::MoveRequest& move, const Context& context) {
  const bool json = context.invocation.json;
  VMNUMA_ASSIGN_OR_RETURN(const auto done, context.ask(move));
  // In JSON it gives one line, at its end.
  if (const int printed = json ? kExitOk : context.print(text_of(done)); printed != kExitOk) {
    return printed;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto action, action_of(done));
  ProgressBar bar(context, fmt::format("{} to node {}", move.vm, move.node.value));
  const auto row = follow_action(context, move.vm, action,
                                 // The effect is in the history once the move has settled.
                                 json ? FollowUntil::kMeasured : FollowUntil::kEnded, [&] {
                                   if (bar.is_shown()) {
                                     show_transfer(context, action, bar);
                                   }
                                 });
  bar.hide();
  return row.map([&](const std::optional<balancer::HistoryRowView>& ended) {
    return ended ? print_done(context, done, *ended) : kExitOk;
  });
}

OrFailure<int> run_command(const balancer::Command& command, const Context& context) {
  const auto& [invocation, surroundings] = context;
  if (invocation.full_screen && surroundings.open_terminal) {
    return run_top([&](const balancer::Command& asked) { return context.ask_text(asked); },
                   surroundings.open_terminal);
  }
  if (const auto* move = std::get_if<balancer::MoveRequest>(&command);
      move != nullptr && invocation.wait) {
    return move_and_wait(*move, context);
  }
  return show(context, [&] { return answer_to(command, context); });
}

}  // namespace

int run(const Invocation& invocation, Surroundings& surroundings) {
  const Context context{invocation, surroundings};
  const OrFailure<int> ended = std::visit(
      [&]<class Asked>(const Asked& asked) {
        if constexpr (std::is_same_v<Asked, balancer::Command>) {
          return run_command(asked, context);
        } else {
          return asked.run(context);
        }
      },
      invocation.command);
  if (!ended) {
    context.complain(ended.error().error);
    return ended.error().exit_code;
  }
  return *ended;
}

}  // namespace vmnuma::tools
