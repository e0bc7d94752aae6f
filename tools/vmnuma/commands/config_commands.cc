// SPDX-License-Identifier: Apache-2.0
// `vmnuma config show` and `config check`: what vmnumad reads when it starts, read as it does.
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "balancer/config/config.h"
#include "balancer/config/persisted_options.h"
#include "stats/text/json.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// With options that were set with --persist.
Result<balancer::Config> read(const std::string& path) {
  return balancer::load_config(
             path.empty() ? std::string(balancer::kDefaultConfigPath) : path,
             path.empty() ? balancer::FileIs::kOptional : balancer::FileIs::kRequired)
      .map([](balancer::Config config) {
        apply_persisted_options(config, balancer::Damaged::kLeave);
        return config;
      });
}

std::string notices_of(const balancer::Config& config) {
  std::string text;
  for (const std::string& notice : config.notices) {  // some have several lines
    std::istringstream lines(notice);
    for (std::string line; std::getline(lines, line);) {
      text += "# " + printable(line) + "\n";
    }
  }
  return text;
}

}  // namespace

int ConfigShowRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<balancer::Config> config = read(path);
  if (!config) {
    return fail(invocation, surroundings, config.error(), kExitUsage);
  }
  const std::string toml = notices_of(*config) + render_config(*config);
  const nlohmann::ordered_json json = {{"toml", toml}};
  return print(invocation, surroundings, invocation.json ? text::json_text(json) + "\n" : toml);
}

int ConfigCheckRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  const Result<balancer::Config> config = read(path);
  if (!config) {
    return fail(invocation, surroundings, config.error(), kExitUsage);
  }
  const nlohmann::ordered_json json = {{"ok", true}, {"notices", config->notices}};
  return print(invocation, surroundings,
               invocation.json ? text::json_text(json) + "\n" : notices_of(*config) + "ok\n");
}

}  // namespace vmnuma::tools
