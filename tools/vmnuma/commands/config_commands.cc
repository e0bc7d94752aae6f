// SPDX-License-Identifier: Apache-2.0
// `vmnuma config show` and `config check`: what is in effect for the running daemon, and what it
// would read if it started now, read the same way.
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/config/config.h"
#include "balancer/config/config_view.h"
#include "balancer/config/persisted_options.h"
#include "balancer/protocol/response.h"
#include "stats/text/json.h"
#include "tools/client/client.h"
#include "tools/vmnuma/arguments/invocation.h"
#include "tools/vmnuma/commands/host_config.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/terminal/surroundings.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// Reads a configuration, including options that were set with --persist.
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
  for (const std::string& notice : config.notices) {  // some notices have several lines
    std::istringstream lines(notice);
    for (std::string line; std::getline(lines, line);) {
      text += "# " + printable(line) + "\n";
    }
  }
  return text;
}

/// A configuration and its source.
struct ShownConfig {
  balancer::ConfigView view;
  std::string_view source;  ///< "daemon" or "file"
  std::string path;         ///< of its socket, or of the file
  std::string
      why;  ///< why it is not the daemon's; empty if it is, or if the daemon's was not requested
};

std::string shown_json(const ShownConfig& shown) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const balancer::SettingView& setting : shown.view.settings) {
    settings.push_back(
        {{"key", setting.key}, {"value", setting.value}, {"origin", name_of(setting.origin)}});
  }
  const nlohmann::ordered_json json = {{"source", shown.source},
                                       {"path", shown.path},
                                       {"settings", settings},
                                       {"notices", shown.view.notices}};
  return text::json_text(json) + "\n";
}

std::string shown_text(const ShownConfig& shown, ListFormat format) {
  std::string rows = text_of(listing_of(shown.view), format);
  if (format != ListFormat::kTable && format != ListFormat::kWide) {
    return rows;
  }
  std::string head = wrapped(
      shown.source == "daemon"
          ? fmt::format("Configuration in effect, from the daemon at {}", shown.path)
          : fmt::format("Configuration that a starting daemon would read from {}{}{}", shown.path,
                        shown.why.empty() ? "" : "; the daemon could not be asked: ", shown.why),
      /*indent=*/0);
  for (const std::string& notice : shown.view.notices) {
    head += wrapped(notice, /*indent=*/0);
  }
  return head + "\n" + rows;
}

}  // namespace

Result<balancer::Config> read_host_config(const std::string& root, const Invocation& invocation,
                                          Surroundings& surroundings) {
  const std::string below = root == "/" ? "" : root;
  const auto say = [&](Error error) {
    error.message += "; the defaults are used instead";
    (void)fail(invocation, surroundings, error, kExitOk);
  };
  auto config = balancer::load_config(below + std::string(balancer::kDefaultConfigPath),
                                      balancer::FileIs::kOptional);
  if (!config && config.error().code == ErrorCode::kPermissionDenied) {
    say(std::move(config).error());
    return balancer::Config{};
  }
  if (!config) {
    return config;
  }
  config->state_dir.insert(0, below);
  const std::size_t known = config->notices.size();
  apply_persisted_options(*config, balancer::Damaged::kLeave);
  for (std::size_t i = known; i < config->notices.size(); ++i) {
    say({ErrorCode::kIo, 0, config->notices[i]});
  }
  return config;
}

int ConfigShowRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  ShownConfig shown{
      {}, "file", path.empty() ? std::string(balancer::kDefaultConfigPath) : path, ""};
  if (path.empty()) {
    const auto answer =
        ask(invocation.socket_path, balancer::ConfigRequest{}, surroundings.time_limit);
    // The file is only that of the host's own daemon.
    if (!answer &&
        (answer.error().by_daemon || invocation.socket_path != balancer::kDefaultSocketPath)) {
      return fail(invocation, surroundings, answer.error());
    }
    if (answer) {
      auto view = balancer::decode_view<balancer::ConfigView>(*answer);
      if (!view) {
        return fail(invocation, surroundings, view.error(), kExitUnreachable);
      }
      shown = {std::move(*view), "daemon", invocation.socket_path, ""};
    } else {
      shown.why = answer.error().error.message;
    }
  }
  if (shown.source == "file") {
    const Result<balancer::Config> config = read(path);
    if (!config) {
      return fail(invocation, surroundings, config.error(), kExitUsage);
    }
    shown.view = config_view(*config);
  }
  return print(invocation, surroundings,
               invocation.json ? shown_json(shown) : shown_text(shown, invocation.format));
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
