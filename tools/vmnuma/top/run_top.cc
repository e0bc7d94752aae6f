// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/run_top.h"

#include <algorithm>
#include <utility>

#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/top/top_frame.h"

namespace vmnuma::tools {

namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMovesShown = 200;

template <class View>
OrFailure<View> view_of(const AskDaemon& ask, const balancer::Command& command) {
  return ask(command).and_then(read_view<View>);
}

OrFailure<TopHost> ask_for_host(const AskDaemon& ask) {
  return view_of<balancer::StatusView>(ask, balancer::StatusRequest{})
      .and_then([&](balancer::StatusView status) {
        return view_of<balancer::HostView>(ask, balancer::HostRequest{})
            .map([&](const balancer::HostView& host) { return top_host(std::move(status), host); });
      });
}

/// Returns the time between two requests, with limits on what a daemon can make of it.
milliseconds period_of(const TopHost& host) {
  return milliseconds(std::clamp<std::int64_t>(host.status.epoch_length_ms, 250, 60'000));
}

void refresh_detail(const AskDaemon& ask, const TopState& state, TopData& data) {
  balancer::HistoryRequest history;
  history.vm = state.vm_uuid;
  history.limit = kMovesShown;
  data.detail =
      TopDetail{view_of<balancer::ExplainView>(ask, balancer::ExplainRequest{state.vm_uuid}),
                view_of<balancer::HistoryView>(ask, history)};
}

void refresh(const AskDaemon& ask, const TopState& state, TopData& data) {
  auto host = ask_for_host(ask);
  data.problem = host ? "" : host.error().error.message;
  if (host) {
    data.host = std::move(*host);
    data.past.add(data.host);
  }
  if (state.page == TopPage::kVm) {
    refresh_detail(ask, state, data);
  }
}

/// Applies a key, and what follows from it immediately.
TopState after_press(const AskDaemon& ask, TopState state, const KeyPress& press, TopData& data,
                     ScreenSize size) {
  data.answer.clear();
  const TopPage before = state.page;
  const std::size_t most = most_scrolled(data, state, size);
  state =
      after_key(std::move(state), press, data.host, std::max<std::size_t>(size.rows / 2, 1), most);
  if (const auto command = std::exchange(state.command, std::nullopt)) {
    const auto done = view_of<balancer::DoneView>(ask, *command);
    data.answer = done ? done->message : done.error().error.message;
    refresh(ask, state, data);
  }
  if (state.page == TopPage::kVm && before != TopPage::kVm) {
    refresh_detail(ask, state, data);
  }
  return state;
}

/// Applies a click. The first click on a client selects it, the second one acts like Enter.
TopState after_click(const AskDaemon& ask, TopState state, std::size_t row, TopData& data,
                     ScreenSize size) {
  const auto client = client_at(data, state, size, row);
  if (!client) {
    return state;
  }
  return is_selected(state, *client)
             ? after_press(ask, std::move(state), {TopKey::kEnter}, data, size)
             : with_selected(std::move(state), *client);
}

}  // namespace

OrFailure<int> run_top(const AskDaemon& ask,
                       const std::function<Result<std::unique_ptr<TopTerminal>>()>& open) {
  VMNUMA_ASSIGN_OR_RETURN(auto host, ask_for_host(ask));
  TopData data{std::move(host), "", std::nullopt};
  data.past.add(data.host);
  VMNUMA_ASSIGN_OR_RETURN(auto terminal, open().map_error(answer_failure));
  TopState state;
  while (!state.quits) {
    const ScreenSize size = terminal->size();
    terminal->show(top_frame(data, state, size));
    const TopEvent event = terminal->wait(period_of(data.host));
    switch (event.kind) {
      case TopEvent::Kind::kStopped:
        return kExitOk;
      case TopEvent::Kind::kResized:
        break;
      case TopEvent::Kind::kTick:
        if (!state.frozen) {
          refresh(ask, state, data);
        }
        break;
      case TopEvent::Kind::kKey:
        state = after_press(ask, std::move(state), event.key, data, size);
        break;
      case TopEvent::Kind::kClick:
        state = after_click(ask, std::move(state), event.row, data, size);
        break;
    }
  }
  return kExitOk;
}

}  // namespace vmnuma::tools
