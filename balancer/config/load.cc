// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "balancer/config/config.h"
#include "placement/model/text.h"
#include "stats/files/file.h"

namespace vmnuma::balancer {

namespace {

/// A thousand VMs with every key set take about 300 KiB.
constexpr std::size_t kMostConfigBytes = 4 * 1024 * 1024;

}  // namespace

Origin Config::origin_of(std::string_view key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? Origin::kDefault : found->second;
}

const VmPolicy* Config::policy_of(const VmId& vm, std::string_view name) const {
  auto found = vms.find(to_text(vm));
  if (found == vms.end()) {
    found = vms.find(name);
  }
  return found == vms.end() ? nullptr : &found->second;
}

Result<Config> load_config(const std::string& path, FileIs file_is) {
  auto text = files::read_file(path, kMostConfigBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound && file_is == FileIs::kOptional) {
      return Config{};
    }
    return failure(std::move(text).error(), "while reading the configuration");
  }
  return parse_config(*text, path);
}

}  // namespace vmnuma::balancer
