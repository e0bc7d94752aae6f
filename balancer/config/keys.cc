// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "balancer/suggest.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {

namespace {

using balancer::name_of;
using placement::VmPolicy;

/// sun_path of sockaddr_un (unix(7)) has 108 bytes with the final zero.
constexpr std::size_t kLongestSocketPath = 107;
constexpr std::size_t kLongestText = 4096;
constexpr std::int64_t kMostVcpus = 4096;

std::string_view name_of(placement::MemoryMode mode) {
  switch (mode) {
    case placement::MemoryMode::kSoft:
      return "soft";
    case placement::MemoryMode::kMask:
      return "mask";
    case placement::MemoryMode::kHandsOff:
      return "hands-off";
  }
  return "unknown";
}

tl::unexpected<Error> refuse(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

Result<void> set_text(std::string& target, std::string_view text) {
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (text.size() > kLongestText || has_control) {
    return refuse("must be at most 4096 bytes without control characters");
  }
  target = text;
  return {};
}

Result<void> set_path(std::string& target, std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return refuse("is " + quoted(text) + ", but must be a path that begins with '/'");
  }
  return set_text(target, text);
}

/// For numbers kept in an integer type of the target's choice.
template <class Number>
Result<void> set_number(Number& target, std::string_view text, std::int64_t smallest,
                        std::int64_t largest) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < smallest ||
      value > largest) {
    return refuse("is " + std::string(text) + ", but must be a number from " +
                  std::to_string(smallest) + " to " + std::to_string(largest));
  }
  target = static_cast<Number>(value);
  return {};
}

Result<void> set_switch(bool& target, std::string_view text) {
  if (text != "true" && text != "false") {
    return refuse("is " + quoted(text) + ", but must be true or false");
  }
  target = text == "true";
  return {};
}

std::string switch_text(bool value) {
  return value ? "true" : "false";
}

/// Sets an enumeration from the name_of() of one of its values.
template <class Choice, std::size_t kCount>
Result<void> set_choice(Choice& target, std::string_view text,
                        const std::array<Choice, kCount>& choices) {
  std::string allowed;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (name_of(choices[i]) == text) {
      target = choices[i];
      return {};
    }
    allowed += i == 0 ? "" : (i + 1 == kCount ? " or " : ", ");
    allowed += quoted(name_of(choices[i]));
  }
  return refuse("is " + quoted(text) + ", but must be " + allowed);
}

Result<void> set_uri(Config& config, std::string_view text) {
  if (text.empty()) {
    return refuse("is empty, but must be a libvirt URI such as 'qemu:///system'");
  }
  return set_text(config.uri, text);
}

Result<void> set_socket_path(Config& config, std::string_view text) {
  if (text.size() > kLongestSocketPath) {
    return refuse("is " + std::to_string(text.size()) +
                  " bytes long, but the path of a socket has at most " +
                  std::to_string(kLongestSocketPath));
  }
  return set_path(config.socket_path, text);
}

constexpr std::array kModes{Mode::kObserve, Mode::kDryRun, Mode::kActive};
constexpr std::array kOnStops{OnStop::kLeave, OnStop::kRestore};
constexpr std::array kLogLevels{LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo,
                                LogLevel::kDebug};
constexpr std::array kMemoryModes{placement::MemoryMode::kSoft, placement::MemoryMode::kMask,
                                  placement::MemoryMode::kHandsOff};

constexpr KeyInfo<Config> kTop[] = {
    {"uri", KeyKind::kText, "a libvirt URI", "The hypervisor whose VMs are balanced", set_uri,
     [](const Config& config) { return config.uri; }},
    {"mode", KeyKind::kText, "observe, dry-run or active",
     "observe only watches, dry-run also plans and shows its plans, active carries them out",
     [](Config& config, std::string_view text) { return set_choice(config.mode, text, kModes); },
     [](const Config& config) { return std::string(name_of(config.mode)); }},
    {"on_stop", KeyKind::kText, "leave or restore",
     "What becomes of the VMs when the daemon stops: leave keeps their placement, restore sets "
     "back what "
     "was found",
     [](Config& config, std::string_view text) {
       return set_choice(config.on_stop, text, kOnStops);
     },
     [](const Config& config) { return std::string(name_of(config.on_stop)); }},
    {"metadata_wins", KeyKind::kSwitch, "true or false",
     "true lets a policy in the domain's own metadata replace the one in this file; false ignores "
     "it",
     [](Config& config, std::string_view text) { return set_switch(config.metadata_wins, text); },
     [](const Config& config) { return switch_text(config.metadata_wins); }},
    {"socket_path", KeyKind::kText, "a path", "The control socket", set_socket_path,
     [](const Config& config) { return config.socket_path; }},
    {"socket_group", KeyKind::kText, "a group, or nothing for the daemon's own",
     "The group whose members may connect to the control socket and read; changes are for root",
     [](Config& config, std::string_view text) { return set_text(config.socket_group, text); },
     [](const Config& config) { return config.socket_group; }},
    {"state_dir", KeyKind::kText, "a path", "Where the history and options set to stay are kept",
     [](Config& config, std::string_view text) { return set_path(config.state_dir, text); },
     [](const Config& config) { return config.state_dir; }},
    {"log_level", KeyKind::kText, "error, warning, info or debug", "The least that is logged",
     [](Config& config, std::string_view text) {
       return set_choice(config.log_level, text, kLogLevels);
     },
     [](const Config& config) { return std::string(name_of(config.log_level)); }},
};

/// One number of `[history]`.
template <std::int64_t HistoryLimits::*kMember, std::int64_t kLargest>
Result<void> set_limit(HistoryLimits& limits, std::string_view text) {
  return set_number(limits.*kMember, text, 1, kLargest);
}
template <std::int64_t HistoryLimits::*kMember>
std::string get_limit(const HistoryLimits& limits) {
  return std::to_string(limits.*kMember);
}

constexpr KeyInfo<HistoryLimits> kHistory[] = {
    {"max_mib", KeyKind::kNumber, "1 to 1048576", "Largest size of the database, in MiB",
     set_limit<&HistoryLimits::max_mib, 1048576>, get_limit<&HistoryLimits::max_mib>},
    {"moves_days", KeyKind::kNumber, "1 to 36500", "How long moves are kept, in days",
     set_limit<&HistoryLimits::moves_days, 36500>, get_limit<&HistoryLimits::moves_days>},
    {"epoch_samples_minutes", KeyKind::kNumber, "1 to 10080",
     "How long the figures of every epoch are kept, in minutes",
     set_limit<&HistoryLimits::epoch_samples_minutes, 10080>,
     get_limit<&HistoryLimits::epoch_samples_minutes>},
    {"minute_samples_days", KeyKind::kNumber, "1 to 3650",
     "How long averages over a minute are kept, in days",
     set_limit<&HistoryLimits::minute_samples_days, 3650>,
     get_limit<&HistoryLimits::minute_samples_days>},
    {"hour_samples_days", KeyKind::kNumber, "1 to 36500",
     "How long averages over an hour are kept, in days",
     set_limit<&HistoryLimits::hour_samples_days, 36500>,
     get_limit<&HistoryLimits::hour_samples_days>},
};

Result<void> set_nodes(VmPolicy& policy, std::string_view text) {
  if (text.empty()) {
    policy.nodes.clear();
    return {};
  }
  auto nodes = placement::parse_node_list(text);
  if (!nodes || nodes->empty()) {
    return refuse("is " + quoted(text) + ", but must be a list of nodes such as '0-1,3'");
  }
  policy.nodes = std::move(*nodes);
  return {};
}

Result<void> set_anti_affinity(VmPolicy& policy, std::string_view text) {
  if (text != "soft" && text != "hard") {
    return refuse("is " + quoted(text) + ", but must be 'soft' or 'hard'");
  }
  policy.anti_affinity_hard = text == "hard";
  return {};
}

Result<void> set_reservation(VmPolicy& policy, std::string_view text) {
  std::int32_t per_cent = 0;
  if (auto set = set_number(per_cent, text, 0, 100); !set) {
    return set;
  }
  policy.reservation_permille = per_cent * 10;
  return {};
}

constexpr KeyInfo<VmPolicy> kPolicy[] = {
    {"nodes", KeyKind::kText, "a list of nodes such as 0-1,3; empty = all",
     "The nodes that the VM may use", set_nodes,
     [](const VmPolicy& policy) { return placement::to_list(policy.nodes); }},
    {"memory_mode", KeyKind::kText, "soft, mask or hands-off",
     "soft moves pages and lets memory spill, mask also limits the VM's memory to its home nodes, "
     "hands-off never touches it",
     [](VmPolicy& policy, std::string_view text) {
       return set_choice(policy.memory_mode, text, kMemoryModes);
     },
     [](const VmPolicy& policy) { return std::string(name_of(policy.memory_mode)); }},
    {"do_not_move", KeyKind::kSwitch, "true or false",
     "true places the VM once and leaves it there",
     [](VmPolicy& policy, std::string_view text) { return set_switch(policy.do_not_move, text); },
     [](const VmPolicy& policy) { return switch_text(policy.do_not_move); }},
    {"prefer_ht", KeyKind::kSwitch, "true or false",
     "true sizes the VM's clients by a node's threads instead of its cores",
     [](VmPolicy& policy, std::string_view text) { return set_switch(policy.prefer_ht, text); },
     [](const VmPolicy& policy) { return switch_text(policy.prefer_ht); }},
    {"max_per_node", KeyKind::kNumber, "0 to 4096",
     "Most vCPUs of the VM on one node; 0 = as many as the node has room for",
     [](VmPolicy& policy, std::string_view text) {
       return set_number(policy.max_per_node, text, 0, kMostVcpus);
     },
     [](const VmPolicy& policy) { return std::to_string(policy.max_per_node); }},
    {"max_per_client", KeyKind::kNumber, "0 to 4096",
     "Most vCPUs of one client of the VM; 0 = as max_per_node",
     [](VmPolicy& policy, std::string_view text) {
       return set_number(policy.max_per_client, text, 0, kMostVcpus);
     },
     [](const VmPolicy& policy) { return std::to_string(policy.max_per_client); }},
    {"consolidate", KeyKind::kSwitch, "true or false",
     "true keeps the fewest clients even if memory spills to another node, false splits by memory "
     "as well",
     [](VmPolicy& policy, std::string_view text) { return set_switch(policy.consolidate, text); },
     [](const VmPolicy& policy) { return switch_text(policy.consolidate); }},
    {"affinity_group", KeyKind::kText, "a name, or nothing",
     "VMs with the same name are brought together on a node",
     [](VmPolicy& policy, std::string_view text) { return set_text(policy.affinity_group, text); },
     [](const VmPolicy& policy) { return policy.affinity_group; }},
    {"anti_affinity_group", KeyKind::kText, "a name, or nothing",
     "VMs with the same name are kept on different nodes",
     [](VmPolicy& policy, std::string_view text) {
       return set_text(policy.anti_affinity_group, text);
     },
     [](const VmPolicy& policy) { return policy.anti_affinity_group; }},
    {"anti_affinity", KeyKind::kText, "soft or hard",
     "hard never lets two VMs of the group share a node, soft rather not", set_anti_affinity,
     [](const VmPolicy& policy) {
       return std::string(policy.anti_affinity_hard ? "hard" : "soft");
     }},
    {"reservation", KeyKind::kNumber, "0 to 100",
     "CPU time the VM is guaranteed, in per cent of its vCPUs' full speed", set_reservation,
     [](const VmPolicy& policy) { return std::to_string(policy.reservation_permille / 10); }},
};

}  // namespace

std::span<const KeyInfo<Config>> top_keys() {
  return kTop;
}
std::span<const KeyInfo<HistoryLimits>> history_keys() {
  return kHistory;
}
std::span<const KeyInfo<VmPolicy>> policy_keys() {
  return kPolicy;
}

Result<void> set_policy_key(VmPolicy& policy, std::string_view name, std::string_view text) {
  const KeyInfo<VmPolicy>* key = find_key(policy_keys(), name);
  if (key == nullptr) {
    return failure(ErrorCode::kNotFound, "there is no policy " + quoted(name) +
                                             did_you_mean(name, names_of(policy_keys())));
  }
  if (auto set = key->set(policy, text); !set) {
    return failure(ErrorCode::kInvalidArgument, quoted(name) + " " + set.error().message);
  }
  return {};
}

std::string_view name_of(OnStop on_stop) {
  return on_stop == OnStop::kLeave ? "leave" : "restore";
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kDebug:
      return "debug";
  }
  return "unknown";
}

}  // namespace vmnuma::balancer
