// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/arguments.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "balancer/config/config.h"
#include "tools/client/sim_folder.h"
#include "tools/client/unknown_option.h"

namespace vmnuma::tools {

tl::expected<ExporterArguments, ExporterExit> parse_exporter_arguments(
    std::span<const std::string> arguments) {
  CLI::App app{"Serves the NUMA balancer's metrics to Prometheus, and a dashboard to browsers.",
               "vmnuma-exporter"};
  std::string listen = "127.0.0.1:9721";
  ExporterArguments read;
  read.socket_path = balancer::kDefaultSocketPath;
  app.add_option("--socket", read.socket_path, "The daemon's control socket")
      ->type_name("PATH")
      ->capture_default_str();
  bool is_simulated = false;
  app.add_flag("--sim", is_simulated, "Show the simulated daemon, by default on a free port")
      ->excludes("--socket");
  const CLI::Option* listens =
      app.add_option("--listen", listen, "Where to listen; port 0 takes any free one")
          ->type_name("ADDRESS:PORT|unix:PATH")
          ->capture_default_str();
  app.add_option("--web.config.file", read.web_config_file,
                 "File with TLS and users, as of other Prometheus exporters")
      ->type_name("PATH");
  app.footer(
      "Examples:\n"
      "  vmnuma-exporter                      Serve this host only, on port 9721\n"
      "  vmnuma-exporter --listen [::]:9721   Serve the network; see --web.config.file");
  app.set_version_flag("--version", "vmnuma-exporter " VMNUMA_VERSION, "Print the version");
  // CLI11 takes arguments from the end of the vector.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  const auto usage = [](const std::string& problem) {
    return tl::unexpected(
        ExporterExit{kExporterUsage,
                     fmt::format("vmnuma-exporter: {}\nTry 'vmnuma-exporter --help'.\n", problem)});
  };
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& asked_for) {
    std::ostringstream out;
    (void)app.exit(asked_for, out, out);  // the exit code is that of success
    return tl::unexpected(ExporterExit{kExporterOk, out.str()});
  } catch (const CLI::ParseError& error) {
    return usage(problem_of(app, error));
  }
  if (is_simulated) {
    read.socket_path = sim_socket(sim_folder());
    listen = listens->count() > 0
                 ? listen
                 : "127.0.0.1:0";  // so that it does not conflict with the host's own exporter
  }
  auto address = parse_listen_address(listen);
  if (!address) {
    return usage("--listen: " + address.error().message);
  }
  read.listen = std::move(*address);
  return read;
}

}  // namespace vmnuma::tools
