// SPDX-License-Identifier: Apache-2.0
/// Prints generated loads (tests/support/load_families.h), for guests that are to do the same.
///
/// usage: generated_loads MINUTES FAMILY WHICH [FAMILY WHICH]...
///
/// A line a VM: its name and its load in thousandths, minute after minute.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/core.h>

#include "tests/support/load_families.h"

using vmnuma::tests::GeneratedVm;
using vmnuma::tests::LoadFamily;

int main(int argc, char** argv) {
  constexpr long kMinutesOfDay = 24 * 60;
  const long minutes = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (minutes < 1 || minutes > 100 * kMinutesOfDay || argc % 2 != 0) {
    fmt::print(stderr, "usage: generated_loads MINUTES FAMILY WHICH [FAMILY WHICH]...\n");
    return 2;
  }
  for (int i = 2; i + 1 < argc; i += 2) {
    const auto family = vmnuma::value_named<LoadFamily>(argv[i]);
    if (!family) {
      fmt::print(stderr, "generated_loads: there is no family '{}'\n", argv[i]);
      return 2;
    }
    const GeneratedVm vm = generate_load(*family, std::strtol(argv[i + 1], nullptr, 10),
                                         (minutes + kMinutesOfDay - 1) / kMinutesOfDay);
    fmt::print("{}", vm.facts.name);
    for (long minute = 0; minute < minutes; ++minute) {
      fmt::print(" {}", vm.load[static_cast<std::size_t>(minute)].value);
    }
    fmt::print("\n");
  }
}
