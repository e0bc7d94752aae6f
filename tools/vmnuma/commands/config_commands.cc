// SPDX-License-Identifier: Apache-2.0
// `vmnuma config show` and `config check`: what is in effect for the running daemon, and what it
// would read if it started now, read the same way.
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/config/config.h"
#include "balancer/config/config_view.h"
#include "balancer/config/persisted_options.h"
#include "stats/text/json.h"
#include "tools/vmnuma/commands/host_config.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/listing.h"
#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

namespace {

/// Reads a configuration, including options that were set with --persist.
OrFailure<balancer::Config> read(const std::string& path) {
  return balancer::load_config(
             path.empty() ? std::string(balancer::kDefaultConfigPath) : path,
             path.empty() ? balancer::FileIs::kOptional : balancer::FileIs::kRequired)
      .map([](balancer::Config config) {
        apply_persisted_options(config, balancer::Damaged::kLeave);
        return config;
      })
      .map_error(usage_failure);
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

Result<balancer::Config> read_host_config(const std::string& root, const Context& context) {
  const std::string below = root == "/" ? "" : root;
  const auto say = [&](Error error) {
    error.message += "; the defaults are used instead";
    context.complain(error);
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

OrFailure<int> ConfigShowRun::run(const Context& context) const {
  const Invocation& invocation = context.invocation;
  ShownConfig shown{
      {}, "file", path.empty() ? std::string(balancer::kDefaultConfigPath) : path, ""};
  if (path.empty()) {
    const auto answer = context.ask_text(balancer::ConfigRequest{});
    // The file is only that of the host's own daemon.
    if (!answer && (answer.error().exit_code == kExitRefused ||
                    invocation.socket_path != balancer::kDefaultSocketPath)) {
      return tl::unexpected(answer.error());
    }
    if (answer) {
      VMNUMA_ASSIGN_OR_RETURN(auto view, read_view<balancer::ConfigView>(*answer));
      shown = {std::move(view), "daemon", invocation.socket_path, ""};
    } else {
      shown.why = answer.error().error.message;
    }
  }
  if (shown.source == "file") {
    VMNUMA_ASSIGN_OR_RETURN(const auto config, read(path));
    shown.view = config_view(config);
  }
  return context.print(invocation.json ? shown_json(shown) : shown_text(shown, invocation.format));
}

OrFailure<int> ConfigCheckRun::run(const Context& context) const {
  VMNUMA_ASSIGN_OR_RETURN(const auto config, read(path));
  std::string notices;
  for (const std::string& notice : config.notices) {  // some notices have several lines
    notices += printable_lines(notice, "# ");
  }
  return context.print({{"ok", true}, {"notices", config.notices}}, notices + "ok\n");
}

}  // namespace vmnuma::tools
