// SPDX-License-Identifier: Apache-2.0
// vmnumad: reads its arguments and its configuration, checks what it needs, and runs the service.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "balancer/config/config.h"
#include "balancer/config/persisted_options.h"
#include "balancer/service/service.h"
#include "stats/topology/topology_reader.h"

namespace {

using vmnuma::ErrorCode;
using vmnuma::Result;
using vmnuma::balancer::Config;

// Documented in vmnumad(8).
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitConfig = 3;
constexpr int kExitAlreadyRunning = 4;

struct Arguments {
  std::string config_path;
  bool check_config = false;
  bool dry_run = false;
  std::string uri;
  std::string socket_path;
  std::string state_dir;
};

Result<Config> read_config(const Arguments& arguments) {
  using vmnuma::balancer::FileIs;
  using vmnuma::balancer::Origin;
  const bool named = !arguments.config_path.empty();
  Result<Config> config = vmnuma::balancer::load_config(
      named ? arguments.config_path : std::string(vmnuma::balancer::kDefaultConfigPath),
      named ? FileIs::kRequired : FileIs::kOptional);
  if (!config) {
    return config;
  }
  const auto override_with = [&](const std::string& value, std::string& field, const char* key) {
    if (!value.empty()) {
      field = value;
      config->origins[key] = Origin::kCommandLine;
    }
  };
  override_with(arguments.uri, config->uri, "uri");
  override_with(arguments.socket_path, config->socket_path, "socket_path");
  override_with(arguments.state_dir, config->state_dir, "state_dir");
  if (arguments.dry_run) {
    config->mode = vmnuma::balancer::Mode::kDryRun;
    config->origins["mode"] = Origin::kCommandLine;
  }
  if (Result<void> persisted = apply_persisted_options(*config); !persisted) {
    return tl::unexpected(std::move(persisted).error());
  }
  return config;
}

/// Only one daemon may act on a host. The lock is held until the process ends.
Result<void> lock_state_dir(const std::string& state_dir) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  const std::string path = state_dir + "/lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
  if (fd < 0) {
    return vmnuma::failure(errno == EACCES ? ErrorCode::kPermissionDenied : ErrorCode::kIo,
                           fmt::format("cannot open '{}': {}", path, std::strerror(errno)), errno);
  }
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return vmnuma::failure(ErrorCode::kBusy, fmt::format("another vmnumad holds '{}'", path),
                           errno);
  }
  return {};
}

/// Every vCPU thread keeps a file open.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // readings that then cannot be had are reported
  }
}

int fail(int code, std::string_view message) {
  fmt::print(stderr, "vmnumad: {}\n", message);
  return code;
}

int run(const Arguments& arguments) {
  Result<Config> config = read_config(arguments);
  if (!config) {
    return fail(kExitConfig, config.error().message);
  }
  if (arguments.check_config) {
    fmt::print("ok\n");
    return kExitOk;
  }
  raise_file_limit();
  if (const Result<void> locked = lock_state_dir(config->state_dir); !locked) {
    return fail(locked.error().code == ErrorCode::kBusy ? kExitAlreadyRunning : kExitFailed,
                locked.error().message);
  }
  Result<vmnuma::stats::Directory> root = vmnuma::stats::Directory::open("/");
  if (!root) {
    return fail(kExitFailed, root.error().message);
  }
  Result<vmnuma::placement::Topology> topology = vmnuma::stats::read_topology(*root);
  if (!topology) {
    return fail(kExitFailed, "cannot read the host's topology: " + topology.error().message);
  }
  vmnuma::balancer::ServiceSetup setup;
  setup.config = *config;
  setup.reload = [arguments] { return read_config(arguments); };
  setup.topology = std::move(*topology);
  Result<std::unique_ptr<vmnuma::stats::History>> history = vmnuma::stats::History::open(
      {config->state_dir + "/history.sqlite", config->history.max_mib << 20U});
  if (history) {
    // Without the last number every action would be refused, so a history that cannot tell it is
    // none.
    const Result<std::int64_t> last_action = (*history)->last_action_id();
    if (last_action) {
      setup.last_action = *last_action;
      setup.history = std::move(*history);
    } else {
      setup.history_problem = last_action.error().message;
    }
  } else {
    setup.history_problem = history.error().message;
  }
  Result<std::unique_ptr<vmnuma::balancer::Service>> service =
      vmnuma::balancer::Service::create(std::move(setup));
  if (!service) {
    return fail(service.error().code == ErrorCode::kBusy ? kExitAlreadyRunning : kExitFailed,
                service.error().message);
  }
  (*service)->run();
  return kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Balances KVM virtual machines over the host's NUMA nodes", "vmnumad");
  app.add_option(
      "--config", arguments.config_path,
      fmt::format("Configuration file (default {})", vmnuma::balancer::kDefaultConfigPath));
  app.add_flag("--check-config", arguments.check_config, "Check the configuration and exit");
  app.add_flag("--dry-run", arguments.dry_run,
               "Decide and say what would be done, but change no VM");
  app.add_option("--connect", arguments.uri, "libvirt connection (default qemu:///system)");
  app.add_option("--socket", arguments.socket_path,
                 fmt::format("Control socket (default {})", vmnuma::balancer::kDefaultSocketPath));
  app.add_option("--state-dir", arguments.state_dir,
                 "Directory of history and lock (default /var/lib/vmnuma)");
  app.set_version_flag("--version", "vmnumad " VMNUMA_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, std::string(error.what()) + "; see vmnumad --help");
  }
  return run(arguments);
}
