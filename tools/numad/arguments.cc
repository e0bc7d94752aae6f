// SPDX-License-Identifier: Apache-2.0
#include "tools/numad/arguments.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "balancer/config/config.h"
#include "balancer/protocol/request.h"
#include "placement/base/number.h"

namespace vmnuma::tools {

namespace {

/// Parses all of the text as a number within [least, most].
std::optional<std::int64_t> number_in(std::string_view text, std::int64_t least,
                                      std::int64_t most) {
  const auto value = whole_number<std::int64_t>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

Result<void> read_size(std::string_view text, NumadArguments& arguments) {
  const std::size_t colon = text.find(':');
  const auto vcpus = number_in(text.substr(0, colon), 1, balancer::kMostVcpus);
  const auto memory = colon == std::string_view::npos
                          ? std::optional<std::int64_t>(0)
                          : number_in(text.substr(colon + 1), 0, balancer::kMostMemoryMib);
  if (!vcpus || !memory) {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("-w needs CPUS[:MIB] such as '4:2048', not '{}'", text));
  }
  arguments.vcpus = static_cast<std::int32_t>(*vcpus);
  arguments.memory_mib = *memory;
  return {};
}

}  // namespace

Result<NumadArguments> parse_numad_arguments(std::span<const std::string> arguments) {
  NumadArguments read;
  read.socket_path = balancer::kDefaultSocketPath;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "-h" || word == "--help") {
      read.help = true;
      return read;
    }
    if (word == "--version") {
      read.version = true;
      return read;
    }
    const bool is_joined = word.starts_with("-w") && word.size() > 2;
    if (word != "-w" && word != "--socket" && !is_joined) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is not supported: this numad only answers libvirt's '-w "
                                 "CPUS[:MIB]'; vmnumad does the balancing",
                                 word));
    }
    if (!is_joined && i + 1 == arguments.size()) {
      return failure(ErrorCode::kInvalidArgument, fmt::format("{} needs a value", word));
    }
    const std::string_view value = is_joined ? word.substr(2) : arguments[++i];
    if (word == "--socket") {
      read.socket_path = value;
    } else if (Result<void> size = read_size(value, read); !size) {
      return tl::unexpected(std::move(size).error());
    }
  }
  if (read.vcpus == 0) {
    return failure(ErrorCode::kInvalidArgument, "-w CPUS[:MIB] is needed");
  }
  return read;
}

std::string numad_help() {
  return "Usage: numad -w CPUS[:MIB] [--socket PATH]\n"
         "Tells libvirt on which NUMA nodes a VM should start.\n"
         "\n"
         "Options:\n"
         "  -w CPUS[:MIB]   Print the nodes for a VM of CPUS vCPUs and MIB MiB of memory\n"
         "  --socket PATH   The daemon's control socket\n"
         "  --version       Print the version and exit\n"
         "  -h, --help      Print this help and exit\n"
         "\n"
         "Examples:\n"
         "  numad -w 4:8192  See where a VM of 4 vCPUs and 8 GiB would start\n";
}

}  // namespace vmnuma::tools
