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

#include "stats/text/json.h"
#include "tools/client/client.h"
#include "tools/vmnuma/commands/follow_action.h"
#include "tools/vmnuma/export/export_host.h"
#include "tools/vmnuma/export/export_text.h"
#include "tools/vmnuma/export/follow_export.h"
#include "tools/vmnuma/terminal/ask_view.h"
#include "tools/vmnuma/terminal/messages.h"
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
tl::expected<std::string, Refusal> text_for(const balancer::Command& command,
                                            const std::string& result, ListFormat format) {
  return std::visit(
      [&]<class Request>(const Request& /*request*/) -> tl::expected<std::string, Refusal> {
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
              Refusal{/*by_daemon=*/false,
                      {ErrorCode::kUnsupported, 0,
                       fmt::format("the answer to '{}' can be printed only with --json",
                                   Request::kCommand)}});
        }
      },
      command);
}

/// Asks the daemon and prints its answer.
class Runner {
 public:
  /// `exported` is how to print the host; null: unchanged.
  Runner(const balancer::Command& command, const ExportRun* exported, const Invocation& invocation,
         Surroundings& surroundings)
      : command_(command),
        exported_(exported),
        invocation_(invocation),
        surroundings_(surroundings) {}

  [[nodiscard]] int run() {
    if (invocation_.full_screen && surroundings_.open_terminal) {
      return show_top();
    }
    if (invocation_.watch) {
      return watch(invocation_, surroundings_, [this](bool again) {
        return ask(command_).and_then(
            [&](const std::string& result) { return print(result, again); });
      });
    }
    const auto result = ask(command_);
    if (!result) {
      return failed(result.error());
    }
    const auto* move = std::get_if<balancer::MoveRequest>(&command_);
    const bool waits = move != nullptr && invocation_.wait;
    // In JSON, a move that is waited for gives one line at its end.
    if (!waits || !invocation_.json) {
      const auto code = print(*result, /*again=*/false);
      if (!code || *code != kExitOk) {
        return code ? *code : failed(code.error());
      }
    }
    return waits ? wait_for(*move, *result) : kExitOk;
  }

 private:
  [[nodiscard]] tl::expected<std::string, Refusal> ask(const balancer::Command& command) const {
    return tools::ask(invocation_.socket_path, command, surroundings_.time_limit);
  }

  /// Returns the answer as text for humans.
  [[nodiscard]] tl::expected<std::string, Refusal> readable_text(const std::string& result) const {
    if (std::holds_alternative<balancer::StatsRequest>(command_)) {
      return read_view<stats::Report>(result).and_then(
          [&](const stats::Report& report) -> tl::expected<std::string, Refusal> {
            if (auto found = check_group(report, invocation_.shape); !found) {
              return tl::unexpected(Refusal{/*by_daemon=*/true, std::move(found).error()});
            }
            return text_of(report, invocation_.shape);
          });
    }
    if (!std::holds_alternative<balancer::HostRequest>(command_)) {
      return text_for(command_, result, invocation_.format);
    }
    return ask_view<balancer::StatusView>(invocation_, surroundings_, balancer::StatusRequest{})
        .and_then([&](balancer::StatusView status) {
          return read_view<balancer::HostView>(result).map([&](const balancer::HostView& host) {
            return top_text(top_host(std::move(status), host));
          });
        });
  }

  [[nodiscard]] tl::expected<int, Refusal> print(const std::string& result, bool again) {
    std::string text = result + "\n";
    if (exported_) {
      VMNUMA_ASSIGN_OR_RETURN(auto host, read_view<balancer::HostView>(result));
      auto exported = export_text(*exported_, std::move(host),
                                  invocation_.json ? JsonLayout::kOneLine : JsonLayout::kIndented);
      if (!exported) {
        return fail(invocation_, surroundings_, exported.error(), kExitUsage);
      }
      text = std::move(*exported);
    } else if (!invocation_.json) {
      VMNUMA_ASSIGN_OR_RETURN(auto readable, readable_text(result));
      text = std::move(readable);
    }
    return tools::print(invocation_, surroundings_,
                        watched(text, again, invocation_, surroundings_));
  }

  [[nodiscard]] int show_top() {
    std::optional<Refusal> refusal;
    const auto ask_daemon = [&](const balancer::Command& command) -> Result<std::string> {
      auto result = ask(command);
      if (!result) {
        refusal = result.error();
        return tl::unexpected(std::move(result).error().error);
      }
      return std::move(*result);
    };
    if (const auto shown = run_top(ask_daemon, surroundings_.open_terminal); !shown) {
      return refusal ? failed(*refusal)
                     : fail(invocation_, surroundings_, shown.error(), kExitUnreachable);
    }
    return kExitOk;
  }

  /// Follows a move in the history until it is done.
  [[nodiscard]] int wait_for(const balancer::MoveRequest& move, const std::string& result) {
    const auto done = balancer::decode_view<DoneView>(result);
    if (!done || !done->action) {
      return failed(
          {/*by_daemon=*/false,
           {ErrorCode::kCorrupt, 0, "the daemon's answer does not name the action to wait for"}});
    }
    ProgressBar bar(surroundings_, invocation_,
                    fmt::format("{} to node {}", move.vm, move.node.value));
    const auto row =
        follow_action(invocation_, surroundings_, move.vm, *done->action,
                      // The effect is in the history once the move has settled.
                      invocation_.json ? FollowUntil::kMeasured : FollowUntil::kEnded, [&] {
                        if (bar.is_shown()) {
                          show_transfer(*done->action, bar);
                        }
                      });
    bar.hide();
    if (!row) {
      return failed(row.error());
    }
    return *row ? print_done(*done, **row) : kExitOk;
  }

  /// Shows how much memory of an unfinished action has moved. If that is unavailable, this is not a
  /// reason to stop.
  void show_transfer(std::int64_t action, ProgressBar& bar) const {
    const auto status =
        ask_view<balancer::StatusView>(invocation_, surroundings_, balancer::StatusRequest{});
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
  [[nodiscard]] int print_done(const DoneView& done, const balancer::HistoryRowView& row) {
    std::string text = row.detail.empty() ? "" : wrapped(row.detail, /*indent=*/0);
    if (invocation_.json) {
      nlohmann::ordered_json json = {{"message", done.message}, {"action", *done.action},
                                     {"state", row.state},      {"detail", row.detail},
                                     {"moved_bytes", nullptr},  {"seconds", nullptr}};
      if (row.outcome) {
        json["moved_bytes"] = row.outcome->moved_bytes;
        json["seconds"] = static_cast<double>(row.outcome->took_ms) / 1000;
      }
      text = text::json_text(json) + "\n";
    }
    return tools::print(invocation_, surroundings_, text);
  }

  [[nodiscard]] int failed(const Refusal& refusal) {
    return fail(invocation_, surroundings_, refusal);
  }

  const balancer::Command& command_;
  const ExportRun* exported_;
  const Invocation& invocation_;
  Surroundings& surroundings_;
};

}  // namespace

int ExportRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  if (format == ExportFormat::kHost) {
    return export_host(*this, invocation, surroundings);
  }
  if (follow) {
    return follow_export(*this, invocation, surroundings);
  }
  return Runner(balancer::HostRequest{}, this, invocation, surroundings).run();
}

int run(const Invocation& invocation, Surroundings& surroundings) {
  return std::visit(
      [&]<class Asked>(const Asked& asked) {
        if constexpr (std::is_same_v<Asked, balancer::Command>) {
          return Runner(asked, /*exported=*/nullptr, invocation, surroundings).run();
        } else {
          return asked.run(invocation, surroundings);
        }
      },
      invocation.command);
}

}  // namespace vmnuma::tools
