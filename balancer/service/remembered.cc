// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/remembered.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "balancer/controller/reserving.h"
#include "balancer/protocol/response.h"
#include "migration/order_text.h"
#include "placement/base/number.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

constexpr std::string_view kReleased = "released";
constexpr std::string_view kOriginals = "originals";
constexpr std::string_view kReservations = "reservations";
constexpr std::string_view kMemoryOriginals = "memory_originals";
constexpr std::string_view kTouchedUnits = "memory_settings";
constexpr std::string_view kHadSettings = "had-settings";
constexpr std::string_view kHadNone = "had-none";
constexpr std::string_view kNoLimit = "max";

/// Removes the first part, which ends before `end` or at the end of the text.
std::string_view take_until(char end, std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}
std::string_view take_line(std::string_view& text) {
  return take_until('\n', text);
}
std::string_view take_word(std::string_view& line) {
  return take_until(' ', line);
}

/// What is stored under this key; empty if nothing is, or if it cannot be read.
std::string kept_text(stats::History& history, std::string_view key) {
  const Result<std::optional<std::string>> kept = history.meta(key);
  return kept ? kept->value_or("") : "";
}

/// Returns orders as texts: first those that sum up earlier ones, which the history may have
/// deleted since, then all that were carried out, oldest first. Noting an order twice changes
/// nothing.
Result<std::vector<std::string>> orders_of(stats::History& history) {
  VMNUMA_ASSIGN_OR_RETURN(const auto kept, history.meta(kOriginals));
  std::vector<std::string> texts;
  std::string_view rest = kept ? std::string_view(*kept) : std::string_view{};
  while (!rest.empty()) {
    texts.emplace_back(take_line(rest));
  }
  return history.orders_carried_out().map([&](std::vector<std::string>&& carried_out) {
    std::move(carried_out.begin(), carried_out.end(), std::back_inserter(texts));
    return std::move(texts);
  });
}

/// Records what the orders changed. False if not all of them can be read. For a VM that was
/// restored, the next order shows again what was found.
bool record_orders(stats::History& history, Originals& originals) {
  const Result<std::vector<std::string>> texts = orders_of(history);
  if (!texts) {
    return false;
  }
  bool all_are_read = true;
  std::set<VmId> restored;
  for (const std::string& text : *texts) {
    const Result<migration::Order> order = migration::parse_order(text);
    all_are_read = all_are_read && order;
    for (const migration::VmChange& change :
         order ? order->changes : std::vector<migration::VmChange>{}) {
      if (restored.erase(change.vm) > 0) {
        originals.erase(change.vm);
      }
      record_change(originals[change.vm], change);
      if (restores(change)) {
        restored.insert(change.vm);
      }
    }
  }
  return all_are_read;
}

/// Returns an order that yields `original` when it is recorded. It is never carried out.
migration::Order sum_up(const VmId& vm, const Original& original) {
  std::size_t changes = 1;
  for (const auto& [thread, pins] : original.threads) {
    changes = std::max(changes, pins.ours.size());
  }
  migration::Order order;
  for (std::size_t i = 0; i < changes; ++i) {
    migration::VmChange& change = order.changes.emplace_back();
    change.vm = vm;
    change.process = original.process;
    for (const auto& [thread, pins] : original.threads) {
      if (i < pins.ours.size()) {
        change.pins.push_back(
            {thread.kind, thread.number, i == 0 ? pins.found : pins.ours[i - 1], pins.ours[i]});
      }
    }
  }
  if (original.memory_nodes) {
    migration::VmChange& first = order.changes.front();
    first.memory_mode = MemoryMode::kMask;
    first.memory.quotas = {{NodeId{0}, Bytes{}}};
    first.memory.allowed_before = *original.memory_nodes;
  }
  return order;
}

template <class Integer>
bool read_number(std::string_view text, Integer& number) {
  const auto read = whole_number<Integer>(text);
  number = read.value_or(number);
  return read.has_value();
}

/// Parses lines "UUID PID START_TIME_TICKS"; others are ignored.
Released read_released(std::string_view text) {
  Released released;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const Result<VmId> vm = parse_vm_id(take_word(line));
    VmProcess process;
    if (vm && read_number(take_word(line), process.pid) &&
        read_number(line, process.start_time_ticks)) {
      released[*vm] = process;
    }
  }
  return released;
}

/// Parses an answer to `reservations` as it was stored.
std::vector<Reservation> read_reservations(std::string_view text) {
  const Result<Response> response = parse_response(text, 0);
  if (!response || !response->result) {
    return {};
  }
  const Result<ReservationsView> view = decode_view<ReservationsView>(*response->result);
  return view ? reservations_in(*view) : std::vector<Reservation>{};
}

std::string to_text(const std::optional<Bytes>& limit) {
  return limit ? std::to_string(limit->value) : std::string(kNoLimit);
}

std::string to_text(const MemoryLimits& limits) {
  return fmt::format("{} {} {} {} {}", limits.min.value, limits.low.value, to_text(limits.high),
                     to_text(limits.max), to_text(limits.swap_max));
}

bool take_limit(std::string_view& line, std::optional<Bytes>& limit) {
  const std::string_view word = take_word(line);
  if (word == kNoLimit) {
    limit.reset();
    return true;
  }
  return read_number(word, limit.emplace().value);
}

bool take_limits(std::string_view& line, MemoryLimits& limits) {
  return read_number(take_word(line), limits.min.value) &&
         read_number(take_word(line), limits.low.value) && take_limit(line, limits.high) &&
         take_limit(line, limits.max) && take_limit(line, limits.swap_max);
}

/// Parses lines "PATH UUID PID START_TIME_TICKS" and three times five limits; others are ignored.
/// Paths contain no blanks: systemd escapes them in the names of units.
MemoryOriginals read_memory_originals(std::string_view text) {
  MemoryOriginals originals;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string path(take_word(line));
    const Result<VmId> vm = parse_vm_id(take_word(line));
    MemoryOriginal original;
    if (vm && read_number(take_word(line), original.process.pid) &&
        read_number(take_word(line), original.process.start_time_ticks) &&
        take_limits(line, original.found) && take_limits(line, original.before) &&
        take_limits(line, original.ours) && line.empty()) {
      original.vm = *vm;
      originals[path] = original;
    }
  }
  return originals;
}

}  // namespace

stats::HistoryOptions history_options(const Config& config) {
  const HistoryLimits& limits = config.history;
  return {config.state_dir + "/history.sqlite",
          limits.max_mib << 20U,
          {std::chrono::minutes(limits.epoch_samples_minutes),
           std::chrono::days(limits.minute_samples_days),
           std::chrono::days(limits.hour_samples_days), std::chrono::days(limits.moves_days)}};
}

Remembered remember(stats::History& history) {
  Remembered remembered;
  // Homes that cannot be read are chosen again.
  for (const stats::HomeRow& home : history.load_homes().value_or(std::vector<stats::HomeRow>{})) {
    remembered.remembered_homes[{home.vm, home.client}] = home.node;
  }
  remembered.originals_known =
      record_orders(history, remembered.originals) && history.notice().empty();
  remembered.released = read_released(kept_text(history, kReleased));
  remembered.reservations = read_reservations(kept_text(history, kReservations));
  remembered.memory_originals = read_memory_originals(kept_text(history, kMemoryOriginals));
  remembered.touched_units = remember_touched_units(history).value_or(TouchedUnits{});
  return remembered;
}

Result<void> keep_memory_originals(stats::History& history, const MemoryOriginals& originals) {
  std::string text;
  for (const auto& [path, original] : originals) {
    text += fmt::format("{} {} {} {} {} {} {}\n", path, to_text(original.vm), original.process.pid,
                        original.process.start_time_ticks, to_text(original.found),
                        to_text(original.before), to_text(original.ours));
  }
  return history.set_meta(kMemoryOriginals, text);
}

/// Parses lines "UNIT had-none" or "UNIT had-settings"; others are ignored.
Result<TouchedUnits> remember_touched_units(stats::History& history) {
  TouchedUnits units;
  VMNUMA_ASSIGN_OR_RETURN(const auto kept, history.meta(kTouchedUnits));
  std::string_view text = kept ? std::string_view(*kept) : std::string_view{};
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string unit(take_word(line));
    if (!unit.empty() && (line == kHadSettings || line == kHadNone)) {
      units[unit] = line == kHadSettings;
    }
  }
  return units;
}

Result<void> keep_touched_units(stats::History& history, const TouchedUnits& units) {
  std::string text;
  for (const auto& [unit, had_settings] : units) {
    text += fmt::format("{} {}\n", unit, had_settings ? kHadSettings : kHadNone);
  }
  return history.set_meta(kTouchedUnits, text);
}

Result<void> keep_reservations(stats::History& history,
                               const std::vector<Reservation>& reservations) {
  return history.set_meta(kReservations,
                          encode_response(0, Answer(reservations_view(reservations))));
}

Result<void> keep_released(stats::History& history, const Released& released) {
  std::string text;
  for (const auto& [vm, process] : released) {
    text += fmt::format("{} {} {}\n", to_text(vm), process.pid, process.start_time_ticks);
  }
  return history.set_meta(kReleased, text);
}

/// Stores one line per VM: its summed-up order.
Result<void> keep_originals(stats::History& history, const Originals& originals) {
  std::string text;
  for (const auto& [vm, original] : originals) {
    text += migration::to_text(sum_up(vm, original)) + "\n";
  }
  return history.set_meta(kOriginals, text);
}

Result<void> keep_known(stats::History& history, const Remembered& known) {
  for (const auto& [client, home] : known.remembered_homes) {
    if (auto saved = history.save_home(client.vm, client.index, home); !saved) {
      return saved;
    }
  }
  return keep_originals(history, known.originals)
      .and_then([&] { return keep_released(history, known.released); })
      .and_then([&] { return keep_reservations(history, known.reservations); })
      .and_then([&] { return keep_memory_originals(history, known.memory_originals); })
      .and_then([&] { return keep_touched_units(history, known.touched_units); });
}

}  // namespace vmnuma::balancer
