// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/top/top_state.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "placement/base/lower_case.h"
#include "placement/base/number.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

using balancer::Figure;

namespace {

/// Returns the sort key: larger values come first, unknown ones last.
std::int64_t rank(const TopClient& client, TopOrder order, std::int64_t epoch_length_ms) {
  switch (order) {
    case TopOrder::kOwed:
      return client.owed_ms.value_or(-1);
    case TopOrder::kLoad:
      return load_permille(client, epoch_length_ms).value_or(-1);
    case TopOrder::kMemory:
      return client.memory_bytes.value_or(-1);
    case TopOrder::kLocality:  // the worst first
      return -local_permille(client).value_or(1001);
    case TopOrder::kHome:
      return -client.home.value;
    case TopOrder::kName:
      break;
  }
  return 0;
}

std::size_t moved(std::size_t from, TopKey key, std::size_t page, std::size_t last) {
  switch (key) {
    case TopKey::kUp:
      return from - std::min<std::size_t>(from, 1);
    case TopKey::kDown:
      return std::min(from + 1, last);
    case TopKey::kPageUp:
      return from - std::min(from, page);
    case TopKey::kPageDown:
      return std::min(from + page, last);
    case TopKey::kFirst:
      return 0;
    case TopKey::kLast:
      return last;
    case TopKey::kCharacter:
    case TopKey::kEnter:
    case TopKey::kBack:
    case TopKey::kErase:
      break;
  }
  return from;
}

TopState with_page(TopState state, TopPage page) {
  state.page = page;
  state.scrolled = 0;
  return state;
}

TopState with_entry(TopState state, TopEntry entry) {
  state.entry = entry;
  state.typed.clear();
  return state;
}

/// Returns the client that the entry concerns, which was selected when the entry began; null if it
/// is gone.
const TopClient* meant(const TopHost& host, const TopState& state) {
  const auto found =
      std::find_if(host.clients.begin(), host.clients.end(),
                   [&state](const TopClient& client) { return is_selected(state, client); });
  return found == host.clients.end() ? nullptr : &*found;
}

/// Begins an entry. Until a client is chosen, the current first row is selected; the subject of a
/// question must not change like that, so it is selected explicitly.
TopState with_entry_about_selected(TopState state, TopEntry entry, const TopHost& host) {
  const std::vector<TopClient> rows = ordered_clients(host, state);
  if (rows.empty()) {
    return state;
  }
  const TopClient& client = rows[selected_row(rows, state)];
  return with_entry(with_selected(std::move(state), client), entry);
}

/// Returns the confirmed command; nothing if it is not valid.
std::optional<balancer::Command> confirmed(const TopHost& host, const TopState& state) {
  if (state.entry == TopEntry::kPause) {
    return host.status.mode == balancer::Mode::kPaused
               ? balancer::Command(balancer::ResumeRequest{})
               : balancer::Command(balancer::PauseRequest{});
  }
  const TopClient* client = meant(host, state);
  if (client == nullptr) {
    return std::nullopt;
  }
  if (state.entry == TopEntry::kRelease) {
    return balancer::ReleaseRequest{client->vm_uuid};
  }
  const auto node = whole_number<std::int32_t>(state.typed);
  return node ? std::optional<balancer::Command>(
                    balancer::MoveRequest{client->vm_uuid, {*node}, client->client})
              : std::nullopt;
}

/// Returns the state after a key while something is being typed.
TopState after_entry_key(TopState state, const KeyPress& press, const TopHost& host) {
  const bool is_filter = state.entry == TopEntry::kFilter;
  const bool is_question = state.entry == TopEntry::kRelease || state.entry == TopEntry::kPause;
  std::string& text = is_filter ? state.filter : state.typed;
  switch (press.key) {
    case TopKey::kCharacter:
      if (is_question) {
        if (press.character == 'y' || press.character == 'Y') {
          state.command = confirmed(host, state);
        }
        return with_entry(std::move(state), TopEntry::kNone);
      }
      if (is_filter || (press.character >= '0' && press.character <= '9')) {
        text += press.character;
      }
      return state;
    case TopKey::kErase:
      if (text.empty()) {
        return with_entry(std::move(state), TopEntry::kNone);
      }
      text.pop_back();
      return state;
    case TopKey::kEnter:
      if (state.entry == TopEntry::kMove) {
        state.command = confirmed(host, state);
      }
      return with_entry(std::move(state), TopEntry::kNone);
    case TopKey::kBack:
      if (is_filter) {
        state.filter.clear();
      }
      return with_entry(std::move(state), TopEntry::kNone);
    default:
      return state;
  }
}

TopState after_character(TopState state, char character, const TopHost& host) {
  const std::size_t order = kTopOrderKeys.find(character);
  if (order != std::string_view::npos && state.page == TopPage::kHost) {
    state.order = static_cast<TopOrder>(order);
    state.reversed = false;
    return state;
  }
  switch (character) {
    case 'q':
      if (state.page != TopPage::kHost) {
        return with_page(std::move(state), TopPage::kHost);
      }
      state.quits = true;
      return state;
    case 'r':
      state.reversed = !state.reversed;
      return state;
    case ' ':
      state.frozen = !state.frozen;
      return state;
    case '?':
      return with_page(std::move(state), TopPage::kHelp);
    case 'x':
      return with_page(std::move(state), TopPage::kMemory);
    case '/':
      state.filter.clear();
      return with_entry(std::move(state), TopEntry::kFilter);
    case 'v':
      return with_entry_about_selected(std::move(state), TopEntry::kMove, host);
    case 'R':
      return with_entry_about_selected(std::move(state), TopEntry::kRelease, host);
    case 'p':
      return with_entry(std::move(state), TopEntry::kPause);
    default:
      return state;
  }
}

}  // namespace

Figure share_permille(const Figure& part, const Figure& whole) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 50U;  // a thousand times this still fits
  if (!part || !whole || *whole <= 0) {
    return std::nullopt;
  }
  const std::int64_t shown = std::max<std::int64_t>(*part, 0);
  return shown < kLarge ? shown * 1000 / *whole : shown / std::max<std::int64_t>(*whole / 1000, 1);
}

Figure load_permille(const TopClient& client, std::int64_t epoch_length_ms) {
  return share_permille(client.demand_ms, client.vcpus * epoch_length_ms);
}

Figure owed_permille(const TopClient& client) {
  return client.entitled_ms == 0 && client.owed_ms
             ? Figure(0)
             : share_permille(client.owed_ms, client.entitled_ms);
}

Figure local_permille(const TopClient& client) {
  return share_permille(client.local_bytes, client.memory_bytes);
}

std::vector<TopClient> ordered_clients(const TopHost& host, const TopState& state) {
  std::vector<TopClient> rows = host.clients;
  std::erase_if(rows, [wanted = lower_case(state.filter)](const TopClient& client) {
    return lower_case(client.vm).find(wanted) == std::string::npos;
  });
  const std::int64_t epoch = host.epoch_length_ms;
  std::sort(rows.begin(), rows.end(), [&](const TopClient& a, const TopClient& b) {
    const auto key = [&](const TopClient& client) {
      return std::tuple(-rank(client, state.order, epoch), client.vm, client.vm_uuid,
                        client.client);
    };
    return state.reversed ? key(b) < key(a) : key(a) < key(b);
  });
  return rows;
}

TopState with_selected(TopState state, const TopClient& client) {
  state.vm_uuid = client.vm_uuid;
  state.client = client.client;
  return state;
}

bool is_selected(const TopState& state, const TopClient& client) {
  return client.vm_uuid == state.vm_uuid && client.client == state.client;
}

std::size_t selected_row(const std::vector<TopClient>& rows, const TopState& state) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const TopClient& row) { return is_selected(state, row); });
  return found == rows.end() ? 0 : static_cast<std::size_t>(found - rows.begin());
}

std::string entry_text(const TopHost& host, const TopState& state) {
  const TopClient* client = meant(host, state);
  const std::string vm = client == nullptr ? "that is gone" : client->vm;
  switch (state.entry) {
    case TopEntry::kNone:
      return "";
    case TopEntry::kFilter:
      return fmt::format("Show VMs whose name contains: {}_", state.filter);
    case TopEntry::kMove:
      return fmt::format("Move VM {}, client {}, to node (Enter does, Esc does not): {}_", vm,
                         state.client, state.typed);
    case TopEntry::kRelease:
      return fmt::format(
          "Release VM {}: restore its original affinity and stop balancing it (y/n)?", vm);
    case TopEntry::kPause:
      return host.status.mode == balancer::Mode::kPaused ? "Resume moves (y/n)?"
                                                         : "Pause, and start no more moves (y/n)?";
  }
  return "";
}

TopState after_key(TopState state, const KeyPress& press, const TopHost& host,
                   std::size_t page_rows, std::size_t most_scrolled) {
  if (state.entry != TopEntry::kNone) {
    return after_entry_key(std::move(state), press, host);
  }
  if (press.key == TopKey::kCharacter) {
    return after_character(std::move(state), press.character, host);
  }
  if (press.key == TopKey::kBack || press.key == TopKey::kErase) {
    if (state.page == TopPage::kHost) {
      state.filter.clear();
    }
    return with_page(std::move(state), TopPage::kHost);
  }
  if (state.page != TopPage::kHost) {
    state.scrolled =
        moved(std::min(state.scrolled, most_scrolled), press.key, page_rows, most_scrolled);
    return state;
  }
  const std::vector<TopClient> rows = ordered_clients(host, state);
  if (rows.empty()) {
    return state;
  }
  const std::size_t row =
      moved(selected_row(rows, state), press.key, page_rows, /*last=*/rows.size() - 1);
  state = with_selected(std::move(state), rows[row]);
  return press.key == TopKey::kEnter ? with_page(std::move(state), TopPage::kVm) : state;
}

}  // namespace vmnuma::tools
