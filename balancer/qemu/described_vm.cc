// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/described_vm.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "balancer/qemu/description_parts.h"
#include "placement/base/lower_case.h"
#include "placement/base/number.h"
#include "placement/model/text.h"

namespace vmnuma::balancer::qemu {
namespace {

constexpr std::size_t kLongestName = 4096;

void describe_identity(const CommandLine& line, DescribedVm& vm) {
  vm.description.name =
      line.merged("name", "guest").value_or(std::string_view()).substr(0, kLongestName);
  // QEMU also uses -uuid for SMBIOS, unless SMBIOS has a UUID of its own, which is then the one
  // that the guest sees.
  for (const auto& [group, key] : {std::pair("uuid", "value"), std::pair("smbios", "uuid")}) {
    const auto text = line.merged(group, key);
    if (!text || vm.uuid) {
      continue;
    }
    if (const auto id = parse_vm_id(*text)) {
      vm.uuid = *id;
    } else {
      note(vm, fmt::format("-{}: {}", group, id.error().message));
    }
  }
}

/// True if there is the monitor that libvirt creates for itself (qemuBuildMonitorCommandLine,
/// qemu/qemu_command.c, libvirt 9.0).
bool is_of_libvirt(const CommandLine& line) {
  return std::ranges::any_of(line.options, [](const OptionGroup& group) {
    return group.name == "mon" && group.is("chardev", "charmonitor");
  });
}

}  // namespace

void note(DescribedVm& vm, std::string text) {
  if (std::ranges::find(vm.notes, text) == vm.notes.end()) {
    vm.notes.push_back(std::move(text));
  }
}

std::optional<Bytes> parse_size(std::string_view text, Bytes unit) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60U;
  constexpr std::string_view kUnits = "bkmgtpe";
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t factor = unit.value;
  if (const std::size_t power = kUnits.find(lower_case(text.back()));
      power != std::string_view::npos) {
    factor = std::int64_t{1} << (10 * power);
    text.remove_suffix(1);
  }
  const std::size_t point = text.find('.');
  const auto whole = whole_number<std::int64_t>(text.substr(0, point));
  if (!whole || *whole < 0 || *whole > kMost / factor) {
    return std::nullopt;
  }
  Bytes size{*whole * factor};
  if (point == std::string_view::npos) {
    return size;
  }
  constexpr std::size_t kMostDigits = 6;
  const std::string_view digits = text.substr(point + 1);
  const auto fraction = whole_number<std::int64_t>(digits);
  if (!fraction || *fraction < 0 || digits.size() > kMostDigits) {
    return std::nullopt;
  }
  std::int64_t parts = 1;
  for (std::size_t digit = 0; digit < digits.size(); ++digit) {
    parts *= 10;
  }
  return size + scaled(Bytes{factor}, *fraction, parts);
}

DescribedVm describe(const CommandLine& line, const HostFacts& host) {
  DescribedVm vm;
  vm.notes = line.notes;
  for (const std::string& file : line.config_files) {
    note(vm, fmt::format("the options in '{}' are not known", file));
  }
  vm.is_of_libvirt = is_of_libvirt(line);
  describe_identity(line, vm);
  describe_cpus(line, vm);
  describe_memory(line, host, vm);
  describe_devices(line, vm);
  return vm;
}

/// FNV-1a over the text, once for each half of the UUID.
VmId id_from(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  VmId id;
  for (std::size_t half = 0; half < 2; ++half) {
    for (const char character : text) {
      hash = (hash ^ static_cast<unsigned char>(character)) * kPrime;
    }
    for (std::size_t byte = 0; byte < 8; ++byte) {
      id.uuid.at(half * 8 + byte) = static_cast<std::uint8_t>(hash >> (byte * 8));
    }
  }
  id.uuid[6] = static_cast<std::uint8_t>((id.uuid[6] & 0x0fU) | 0x80U);
  id.uuid[8] = static_cast<std::uint8_t>((id.uuid[8] & 0x3fU) | 0x80U);
  return id;
}

VmId id_of(const DescribedVm& vm) {
  return vm.uuid.value_or(id_from("name:" + vm.description.name));
}

}  // namespace vmnuma::balancer::qemu
