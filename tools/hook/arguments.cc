// SPDX-License-Identifier: Apache-2.0
#include "tools/hook/arguments.h"

#include <vector>

#include <fmt/format.h>

#include "balancer/config/config.h"

namespace vmnuma::tools {

Result<HookArguments> parse_hook_arguments(std::span<const std::string> arguments) {
  HookArguments read;
  read.socket_path = balancer::kDefaultSocketPath;
  read.state_dir = balancer::Config{}.state_dir;
  std::vector<std::string> words;
  bool options_end = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (options_end || word.empty() || word.front() != '-' || !words.empty()) {
      words.push_back(word);
    } else if (word == "--") {
      options_end = true;
    } else if (word == "-h" || word == "--help") {
      read.help = true;
      return read;
    } else if (word == "--version") {
      read.version = true;
      return read;
    } else if (word == "--pve") {
      read.is_pve = true;
    } else if (word == "--socket" && i + 1 < arguments.size()) {
      read.socket_path = arguments[++i];
    } else if (word == "--state-dir" && i + 1 < arguments.size()) {
      read.state_dir = arguments[++i];
    } else {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("there is no option '{}', or it needs a value", word));
    }
  }
  if (words.size() < 2) {
    return failure(ErrorCode::kInvalidArgument, "the VM's name and an operation are needed");
  }
  read.vm = words[0];
  read.operation = words[1];
  return read;
}

std::string hook_help() {
  return "Usage: vmnuma-hook [--socket PATH] [--state-dir PATH] [--] NAME OPERATION\n"
         "                   [SUB-OPERATION [EXTRA]]\n"
         "       vmnuma-hook [--socket PATH] [--state-dir PATH] --pve VMID PHASE\n"
         "Tells vmnumad what libvirt is about to do with a VM whose XML is on standard input,\n"
         "or what Proxmox VE is about to do with one of its own.\n"
         "\n"
         "Options:\n"
         "  --socket PATH     The daemon's control socket\n"
         "  --state-dir PATH  Where the daemon keeps its state\n"
         "  --pve             Proxmox VE calls, not libvirt\n"
         "  --version         Print the version and exit\n"
         "  -h, --help        Print this help and exit\n"
         "\n"
         "Examples:\n"
         "  virsh dumpxml db1 | vmnuma-hook db1 prepare begin -   As libvirt calls it\n"
         "  vmnuma-hook --pve 101 pre-start                       As Proxmox VE calls it\n";
}

}  // namespace vmnuma::tools
