// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/remembered.h"

#include <chrono>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/controller/kept_fields.h"
#include "migration/order_text.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kReleased = "released";
constexpr std::string_view kOriginals = "originals";
constexpr std::string_view kReservations = "reservations";
constexpr std::string_view kMemoryOriginals = "memory_originals";
constexpr std::string_view kTouchedUnits = "memory_settings";
/// More than the originals of ten thousand VMs need.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20U;

/// Stores the value under this key, as an object with that member.
template <class T>
Result<void> store(stats::History& history, std::string_view key, const T& value) {
  return history.set_meta(key, text::json_text(KeptWriter<Json>().object_of(key, value)));
}

/// Reads what is stored under this key; an empty value if nothing is. Error: corrupt, or those of
/// the history.
template <class T>
Result<T> kept(stats::History& history, std::string_view key) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, history.meta(key));
  T value;
  if (!text || text->empty()) {
    return value;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto json, text::read_json<Json>(*text, {kMostKeptBytes}, "it"));
  KeptReader<Json> fields(json);
  fields(key, value);
  return fields.result().map([&] { return std::move(value); });
}

/// Moves what is stored under this key to another one.
Result<void> set_aside(stats::History& history, std::string_view key) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, history.meta(key));
  return history.set_meta(fmt::format("{}.damaged", key), text.value_or("")).and_then([&] {
    return history.set_meta(key, "");
  });
}

/// Reads what is stored under this key. If that cannot be understood, it is set aside, and false is
/// returned.
template <class T>
bool take(stats::History& history, std::string_view key, EventLog& log, T& value) {
  Result<T> read = kept<T>(history, key);
  if (read) {
    value = std::move(*read);
    return true;
  }
  const Result<void> aside =
      read.error().code == ErrorCode::kCorrupt ? set_aside(history, key) : Result<void>();
  log.say(Severity::kWarning,
          fmt::format("what was kept as '{}' cannot be read, continuing without it: {}{}", key,
                      read.error().message,
                      aside ? "" : ", and it could not be set aside: " + aside.error().message));
  return false;
}

/// Records what the orders changed. False if not all of them can be read. For a VM that was
/// restored, the next order shows again what was found.
bool record_orders(stats::History& history, Originals& originals) {
  const Result<std::vector<std::string>> texts = history.orders_carried_out();
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

}  // namespace

stats::HistoryOptions history_options(const Config& config) {
  const HistoryLimits& limits = config.history;
  return {config.state_dir + "/history.sqlite",
          limits.max_mib << 20U,
          {std::chrono::minutes(limits.epoch_samples_minutes),
           std::chrono::days(limits.minute_samples_days),
           std::chrono::days(limits.hour_samples_days), std::chrono::days(limits.moves_days)}};
}

Remembered remember(stats::History& history, EventLog& log) {
  Remembered remembered;
  // Homes that cannot be read are chosen again.
  for (const stats::HomeRow& home : history.load_homes().value_or(std::vector<stats::HomeRow>{})) {
    remembered.remembered_homes[{home.vm, home.client}] = home.node;
  }
  // The orders since then are noted again, which changes nothing.
  const bool is_known = take(history, kOriginals, log, remembered.originals);
  remembered.originals_known =
      record_orders(history, remembered.originals) && is_known && history.notice().empty();
  (void)take(history, kReleased, log, remembered.released);
  (void)take(history, kReservations, log, remembered.reservations);
  (void)take(history, kMemoryOriginals, log, remembered.memory_originals);
  (void)take(history, kTouchedUnits, log, remembered.touched_units);
  return remembered;
}

Result<void> keep_originals(stats::History& history, const Originals& originals) {
  return store(history, kOriginals, originals);
}

Result<void> keep_released(stats::History& history, const Released& released) {
  return store(history, kReleased, released);
}

Result<void> keep_reservations(stats::History& history,
                               const std::vector<Reservation>& reservations) {
  return store(history, kReservations, reservations);
}

Result<void> keep_memory_originals(stats::History& history, const MemoryOriginals& originals) {
  return store(history, kMemoryOriginals, originals);
}

Result<TouchedUnits> remember_touched_units(stats::History& history) {
  return kept<TouchedUnits>(history, kTouchedUnits);
}

Result<void> keep_touched_units(stats::History& history, const TouchedUnits& units) {
  return store(history, kTouchedUnits, units);
}

Result<void> keep_known(stats::History& history, const Remembered& known) {
  for (const auto& [client, home] : known.remembered_homes) {
    VMNUMA_RETURN_IF_ERROR(history.save_home(client.vm, client.index, home));
  }
  return keep_originals(history, known.originals)
      .and_then([&] { return keep_released(history, known.released); })
      .and_then([&] { return keep_reservations(history, known.reservations); })
      .and_then([&] { return keep_memory_originals(history, known.memory_originals); })
      .and_then([&] { return keep_touched_units(history, known.touched_units); });
}

}  // namespace vmnuma::balancer
