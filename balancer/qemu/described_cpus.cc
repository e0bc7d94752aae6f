// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "placement/base/number.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::int32_t kMostVcpus = 4096;
constexpr std::int64_t kTooMany = std::int64_t{1} << 32U;  ///< products stay below

/// -smp as completed by machine_parse_smp_config() of hw/core/machine-smp.c; 0 = omitted.
class Smp {
 public:
  Smp(const CommandLine& line, DescribedVm& vm) : line_(line), vm_(vm) {}

  void describe() {
    const std::int32_t declared_cpus = number("cpus");
    const std::int32_t declared_max = number("maxcpus");
    std::int32_t sockets = number("sockets");
    std::int32_t cores = number("cores");
    std::int32_t threads = number("threads");
    const std::int32_t dies = or_one(number("dies"));
    // Levels between die and core, and above sockets; an x86 guest lacks most of them.
    const std::int64_t inner = product({number("modules"), number("clusters")});
    const std::int64_t outer = product({number("drawers"), number("books")});
    const bool declared = sockets > 0 || cores > 0 || threads > 0 || dies > 1;

    const std::int32_t most = declared_max > 0 ? declared_max : declared_cpus;
    const std::int64_t others =
        product({number("modules"), number("clusters"), number("drawers"), number("books"), dies});
    if (most > 0 && cores == 0) {
      cores = part_of(most, product({others, sockets, threads}));
    } else if (most > 0 && sockets == 0) {
      sockets = part_of(most, product({others, cores, threads}));
    } else if (most > 0 && threads == 0) {
      threads = part_of(most, product({others, sockets, cores}));
    }
    const std::int64_t places = product({others, sockets, cores, threads});
    const std::int32_t max_cpus = most > 0 ? most : limited(places);
    set(declared_cpus > 0 ? std::min(declared_cpus, max_cpus) : max_cpus, max_cpus);
    if (declared && places == max_cpus) {
      vm_.description.sockets = limited(or_one(sockets) * outer);
      vm_.description.dies = dies;
      vm_.description.cores = limited(or_one(cores) * inner);
      vm_.description.threads = or_one(threads);
    } else if (declared) {
      note(vm_, fmt::format("-smp: its topology has {} CPUs, but there are {}", places, max_cpus));
    }
  }

 private:
  static std::int32_t or_one(std::int32_t number) { return std::max(number, 1); }
  static std::int32_t limited(std::int64_t count) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(count, 1, kMostVcpus));
  }
  static std::int32_t part_of(std::int32_t most, std::int64_t divisor) {
    return limited(most / divisor);
  }
  static std::int64_t product(std::initializer_list<std::int64_t> numbers) {
    std::int64_t all = 1;
    for (const std::int64_t one : numbers) {
      all = std::min(all * std::max<std::int64_t>(one, 1), kTooMany);
    }
    return all;
  }

  /// The value of the key; 0 if omitted or invalid.
  std::int32_t number(std::string_view key) {
    const auto text = line_.merged("smp", key);
    if (!text) {
      return 0;
    }
    const auto found = whole_number<std::int32_t>(*text);
    if (found && *found >= 0 && *found <= kMostVcpus) {
      return *found;
    }
    note(vm_, fmt::format("-smp: {} is '{}'", key, *text));
    return 0;
  }

  void set(std::int32_t cpus, std::int32_t max_cpus) {
    vm_.description.max_vcpus = max_cpus;
    for (std::int32_t vcpu = 0; vcpu < cpus; ++vcpu) {
      vm_.description.vcpus.push_back(vcpu);
    }
  }

  const CommandLine& line_;
  DescribedVm& vm_;
};

}  // namespace

void describe_cpus(const CommandLine& line, DescribedVm& vm) {
  Smp(line, vm).describe();
}

}  // namespace vmnuma::balancer::qemu
