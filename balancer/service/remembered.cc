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

/// What is stored has the name of its type here, as a key and as the member of an object.
template <class T>
constexpr std::string_view kKeyOf;
template <>
constexpr std::string_view kKeyOf<Released> = "released";
template <>
constexpr std::string_view kKeyOf<Originals> = "originals";
template <>
constexpr std::string_view kKeyOf<std::vector<Reservation>> = "reservations";
template <>
constexpr std::string_view kKeyOf<MemoryOriginals> = "memory_originals";
template <>
constexpr std::string_view kKeyOf<TouchedUnits> = "memory_settings";
/// More than the originals of ten thousand VMs need.
constexpr std::size_t kMostKeptBytes = std::size_t{64} << 20U;

/// Reads what is stored; an empty value if nothing is. Error: corrupt, or those of the history.
template <class T>
Result<T> kept_in(stats::History& history) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, history.meta(kKeyOf<T>));
  T value;
  if (!text || text->empty()) {
    return value;
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto json, text::read_json<Json>(*text, {kMostKeptBytes}, "it"));
  KeptReader<Json> fields(json);
  fields(kKeyOf<T>, value);
  return fields.result().map([&] { return std::move(value); });
}

/// Moves what is stored under this key to another one. Returns what was done, for people.
std::string set_aside(stats::History& history, std::string_view key) {
  const std::string other = fmt::format("{}.damaged", key);
  const Result<void> done =
      history.meta(key)
          .and_then([&](const auto& text) { return history.set_meta(other, text.value_or("")); })
          .and_then([&] { return history.set_meta(key, ""); });
  return done ? fmt::format("it was set aside as '{}'", other)
              : "it could not be set aside: " + done.error().message;
}

/// Reads what is stored. If that cannot be understood, it is set aside, and false is returned.
template <class T>
bool take(stats::History& history, EventLog& log, T& value) {
  Result<T> read = kept_in<T>(history);
  if (read) {
    value = std::move(*read);
    return true;
  }
  const bool is_corrupt = read.error().code == ErrorCode::kCorrupt;
  log.say(
      Severity::kWarning,
      fmt::format("what was kept as '{}' cannot be read, continuing without it: {}{}", kKeyOf<T>,
                  read.error().message, is_corrupt ? "; " + set_aside(history, kKeyOf<T>) : ""));
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
  const bool is_known = take(history, log, remembered.originals);
  remembered.originals_known =
      record_orders(history, remembered.originals) && is_known && history.notice().empty();
  (void)take(history, log, remembered.released);
  (void)take(history, log, remembered.reservations);
  (void)take(history, log, remembered.memory_originals);
  (void)take(history, log, remembered.touched_units);
  return remembered;
}

template <class T>
Result<void> keep_in(stats::History& history, const T& value) {
  return history.set_meta(kKeyOf<T>,
                          text::json_text(KeptWriter<Json>().object_of(kKeyOf<T>, value)));
}
template Result<void> keep_in(stats::History&, const Released&);
template Result<void> keep_in(stats::History&, const Originals&);
template Result<void> keep_in(stats::History&, const std::vector<Reservation>&);
template Result<void> keep_in(stats::History&, const MemoryOriginals&);
template Result<void> keep_in(stats::History&, const TouchedUnits&);

Result<TouchedUnits> remember_touched_units(stats::History& history) {
  return kept_in<TouchedUnits>(history);
}

Result<void> keep_known(stats::History& history, const Remembered& known) {
  for (const auto& [client, home] : known.remembered_homes) {
    VMNUMA_RETURN_IF_ERROR(history.save_home(client.vm, client.index, home));
  }
  return keep_in(history, known.originals)
      .and_then([&] { return keep_in(history, known.released); })
      .and_then([&] { return keep_in(history, known.reservations); })
      .and_then([&] { return keep_in(history, known.memory_originals); })
      .and_then([&] { return keep_in(history, known.touched_units); });
}

}  // namespace vmnuma::balancer
