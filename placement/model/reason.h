// SPDX-License-Identifier: Apache-2.0
/// Why an action is taken, and what its reason implies about what it does: the one place that
/// defines a reason's traits.
#pragma once

#include <optional>
#include <string_view>

#include "placement/base/names.h"

namespace vmnuma {

/// The names are those of ESXi's numa-migration columns where it has them.
enum class Reason {
  kInitialPlacement,  ///< a client without a home gets one
  kLoadMove,          ///< balanceMig: one client to a node with more to give
  kLoadSwap,          ///< loadSwap: two clients change places
  kLongTermMove,      ///< longTermMig: other clients take their turn in the shortage
  kLongTermSwap,
  kLocalityMove,  ///< localityMig: the client goes where its memory is
  kLocalitySwap,
  kAffinityMove,   ///< a declared group is brought together or apart
  kMemoryPull,     ///< only pages move, home to their client
  kAdministrator,  ///< `vmnuma move`, and `vmnuma release`
  kCpuAssignment,  ///< other CPUs of the same home
  kForecastMove,   ///< balanceMig: a load move before there is a shortage
  kSpill,          ///< a client runs on the CPUs of a second node as well, or no longer does
  kMakeRoom,       ///< makes room for a VM that is about to start
};
[[nodiscard]] constexpr auto names(Reason) {
  return names_in_order<Reason>("initial-placement", "load-move", "load-swap", "long-term-move",
                                "long-term-swap", "locality-move", "locality-swap", "affinity-move",
                                "memory-pull", "administrator", "cpu-assignment", "forecast-move",
                                "spill", "make-room");
}

/// What an action changes.
enum class Change {
  kFirstHome,
  kHome,
  kTwoHomes,  ///< of two clients that change places
  kPages,     ///< where memory lies, and no home
  kCpus,      ///< where clients may run, and no home or memory
};
[[nodiscard]] constexpr Change change_of(Reason reason) {
  switch (reason) {
    case Reason::kInitialPlacement:
      return Change::kFirstHome;
    case Reason::kLoadMove:
    case Reason::kLongTermMove:
    case Reason::kLocalityMove:
    case Reason::kAffinityMove:
    case Reason::kAdministrator:
    case Reason::kForecastMove:
    case Reason::kMakeRoom:
      return Change::kHome;
    case Reason::kLoadSwap:
    case Reason::kLongTermSwap:
    case Reason::kLocalitySwap:
      return Change::kTwoHomes;
    case Reason::kMemoryPull:
      return Change::kPages;
    case Reason::kCpuAssignment:
    case Reason::kSpill:
      break;
  }
  return Change::kCpus;
}

[[nodiscard]] constexpr bool exchanges_homes(Reason reason) {
  return change_of(reason) == Change::kTwoHomes;
}
/// True for all but placements, which give a first home.
[[nodiscard]] constexpr bool moves_a_home(Reason reason) {
  return change_of(reason) == Change::kHome || exchanges_homes(reason);
}
[[nodiscard]] constexpr bool changes_cpus_only(Reason reason) {
  return change_of(reason) == Change::kCpus;
}
/// True for a turn: the shortage is passed on to other clients.
[[nodiscard]] constexpr bool is_a_turn(Reason reason) {
  return reason == Reason::kLongTermMove || reason == Reason::kLongTermSwap;
}
/// True for actions against a present shortage.
[[nodiscard]] constexpr bool is_for_load(Reason reason) {
  return reason == Reason::kLoadMove || reason == Reason::kLoadSwap;
}
[[nodiscard]] constexpr bool is_for_locality(Reason reason) {
  return reason == Reason::kLocalityMove || reason == Reason::kLocalitySwap;
}

/// Which figures of a Prediction are meaningful; the others are 0.
struct PredictedFigures {
  bool lost_time = true;  ///< and the cost
  bool imbalance = true;
  bool locality_before = true;
  bool locality_after = true;
};
/// For actions with the reason of that name, as stored; `is_known` is Prediction::known.
[[nodiscard]] constexpr PredictedFigures predicted_figures(std::string_view reason, bool is_known) {
  const std::optional<Reason> known = value_named<Reason>(reason);
  if (!is_known || known == Reason::kCpuAssignment) {
    return {false, false, false, false};
  }
  if (known == Reason::kAdministrator || known == Reason::kMakeRoom || known == Reason::kSpill) {
    return {true, false, false, false};
  }
  if (known == Reason::kMemoryPull) {
    return {false, false, true, true};
  }
  const bool had_a_home = known != Reason::kInitialPlacement;
  return {true, true, had_a_home, true};
}

}  // namespace vmnuma
