// SPDX-License-Identifier: Apache-2.0
/// What the user of `vmnuma top` is looking at, and the effect of each key. Pure.
///
/// Terms: *page* - one of the views that the screen can show. *Row* - a client in the order of the
/// host page. *Entry* - what is being typed on the last line.
///
/// Properties:
///  - the selected client stays selected when the order changes; if it is gone, the first row is
///    selected;
///  - no key ever selects what does not exist;
///  - the daemon gets no command without a key that confirms it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/protocol/request.h"
#include "placement/base/names.h"
#include "tools/vmnuma/top/top_host.h"

namespace vmnuma::tools {

enum class TopPage { kHost, kVm, kMemory, kHelp };

/// The target of the keys.
enum class TopEntry {
  kNone,     ///< the page
  kFilter,   ///< part of a VM's name
  kMove,     ///< the number of the node to which the selected client shall move
  kRelease,  ///< y, for the selected VM
  kPause,    ///< y; resumes if paused
};

enum class TopOrder { kOwed, kLoad, kMemory, kLocality, kHome, kName };
[[nodiscard]] constexpr auto names(TopOrder) {
  return names_in_order<TopOrder>("owed", "load", "memory", "locality", "home", "name");
}
/// The keys that select an order, one per TopOrder.
inline constexpr std::string_view kTopOrderKeys = "olmfhn";
static_assert(kTopOrderKeys.size() == names(TopOrder{}).size());

enum class TopKey {
  kCharacter,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kFirst,
  kLast,
  kEnter,
  kBack,
  kErase
};

struct KeyPress {
  TopKey key = TopKey::kCharacter;
  char character = 0;  ///< of kCharacter
  bool operator==(const KeyPress&) const = default;
};

struct TopState {
  TopPage page = TopPage::kHost;
  TopOrder order = TopOrder::kOwed;
  bool reversed = false;
  bool frozen = false;  ///< the screen does not change
  bool quits = false;
  std::string vm_uuid;  ///< of the selected client; empty: the first row
  std::int32_t client = 0;
  std::size_t scrolled = 0;  ///< lines above the first one shown, on a page of text
  std::string filter;        ///< show only clients of VMs with this in their name, ignoring case
  TopEntry entry = TopEntry::kNone;
  std::string typed;  ///< for kMove
  /// A confirmed command; the caller sends it to the daemon and removes it from here.
  std::optional<balancer::Command> command;
  bool operator==(const TopState&) const = default;
};

/// Returns the clients that pass the filter, in display order: those that need attention first,
/// ties by name and number.
[[nodiscard]] std::vector<TopClient> ordered_clients(const TopHost& host, const TopState& state);

/// Returns the selected row of ordered_clients(); 0 if the client is gone or none was chosen.
[[nodiscard]] std::size_t selected_row(const std::vector<TopClient>& rows, const TopState& state);

/// Returns `part` of the whole in thousandths, rounded down; nothing for an empty whole, or if
/// either is unknown.
[[nodiscard]] balancer::Figure share_permille(const balancer::Figure& part,
                                              const balancer::Figure& whole);

/// Returns what a client wants of its vCPUs' full time, in thousandths.
[[nodiscard]] balancer::Figure load_permille(const TopClient& client, std::int64_t epoch_length_ms);
/// Returns what it was owed, in thousandths of what it was entitled to; 0 if that was nothing.
[[nodiscard]] balancer::Figure owed_permille(const TopClient& client);
/// Returns its local memory, in thousandths; nothing if that is unknown or it has no memory.
[[nodiscard]] balancer::Figure local_permille(const TopClient& client);

/// Returns the question on the last line; empty without an entry.
[[nodiscard]] std::string entry_text(const TopHost& host, const TopState& state);

/// Selects the client.
[[nodiscard]] TopState with_selected(TopState state, const TopClient& client);
[[nodiscard]] bool is_selected(const TopState& state, const TopClient& client);

/// Returns the state after a key. `page_rows` is the step of PageUp and PageDown, `most_scrolled`
/// the last scroll position of a page of text.
[[nodiscard]] TopState after_key(TopState state, const KeyPress& press, const TopHost& host,
                                 std::size_t page_rows, std::size_t most_scrolled);

}  // namespace vmnuma::tools
