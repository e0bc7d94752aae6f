// SPDX-License-Identifier: Apache-2.0
// vmnumad: reads its arguments and its configuration, checks what it needs, and runs the service on
// this host or on a simulated one, or shows a recording.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "balancer/config/config.h"
#include "balancer/config/persisted_options.h"
#include "balancer/service/control_socket.h"
#include "balancer/service/linux_host.h"
#include "balancer/service/recorded_service.h"
#include "balancer/service/service.h"
#include "balancer/service/signals.h"
#include "balancer/service/task_board.h"
#include "stats/files/directory.h"
#include "stats/files/open.h"
#include "stats/linux/capabilities.h"
#include "stats/text/printable.h"
#include "tools/client/process_limits.h"
#include "tools/client/sim_folder.h"
#include "tools/client/unknown_option.h"
#include "tools/sim/live/live_host.h"
#include "tools/sim/scenario/catalogue.h"
#include "tools/vmnumad/simulated.h"

namespace vmnuma::tools {

namespace {

using balancer::Config;
using balancer::ControllerSetup;
using balancer::ControlSocket;
using balancer::Damaged;
using balancer::Host;
using balancer::HostTime;
using balancer::LinuxHost;
using balancer::RecordedService;
using balancer::Service;
using balancer::Signals;
using balancer::TaskBoard;
using files::FileDescriptor;

// Documented in vmnumad(8).
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitConfig = 3;
constexpr int kExitAlreadyRunning = 4;
// Signals::kExitHung is 5.

struct Arguments {
  std::string config_path;
  bool check_config = false;
  bool dry_run = false;
  std::string uri;
  std::string socket_path;
  std::string state_dir;
  std::optional<Scenario> simulated;
  std::string recording;   ///< empty: no recording is shown
  std::int64_t speed = 1;  ///< of the recording's time

  /// Returns whether the configuration file of the host's own daemon is ignored.
  [[nodiscard]] bool is_elsewhere() const { return simulated || !recording.empty(); }
};

Result<Config> load(const Arguments& arguments) {
  using balancer::FileIs;
  if (!arguments.config_path.empty()) {
    return balancer::load_config(arguments.config_path, FileIs::kRequired);
  }
  return arguments.is_elsewhere()
             ? Config{}
             : balancer::load_config(std::string(balancer::kDefaultConfigPath), FileIs::kOptional);
}

Result<Config> read_config(const Arguments& arguments, Damaged damaged) {
  using balancer::Origin;
  Result<Config> config = load(arguments);
  if (!config) {
    return config;
  }
  if (arguments.simulated) {
    config = simulated_config(std::move(*config), *arguments.simulated, sim_folder());
  } else if (arguments.is_elsewhere()) {
    config = private_config(std::move(*config), sim_folder());
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
    config->mode = balancer::Mode::kDryRun;
    config->origins["mode"] = Origin::kCommandLine;
  }
  apply_persisted_options(*config, damaged);
  return config;
}

/// Returns the error "cannot open '...': Permission denied", with advice.
tl::unexpected<Error> no_access(std::string_view to_what, const std::string& path,
                                int errno_value) {
  const std::string what =
      fmt::format("cannot {} '{}': {}", to_what, path, std::strerror(errno_value));
  return errno_value == EACCES
             ? failure(ErrorCode::kPermissionDenied,
                       what +
                           "; start vmnumad as root, or with --state-dir and --socket "
                           "where this user may write",
                       errno_value)
             : failure(ErrorCode::kIo, what, errno_value);
}

/// Locks the state directory, because only one daemon may act on a host. The lock is held as long
/// as the file is open.
Result<FileDescriptor> lock_state_dir(const std::string& state_dir) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  if (error) {
    return no_access("make", state_dir, error.value());
  }
  const std::string path = state_dir + "/lock";
  auto file = files::open_to_lock(path);
  if (!file && file.error().errno_value == EACCES) {
    return no_access("open", path, EACCES);
  }
  if (file && flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    return failure(ErrorCode::kBusy, fmt::format("another vmnumad holds '{}'", path), errno);
  }
  return file;
}

/// Raises the limit of open files, because every vCPU thread needs one.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);  // if this fails, missing readings are reported later
  }
}

/// Prints the message; a configuration may have several errors, one per line.
int fail(int code, std::string_view message) {
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    fmt::print(stderr, "vmnumad: {}\n", text::printable(message.substr(begin, end - begin)));
    begin = end + 1;
  }
  return code;
}

/// Reports missing capabilities at the start, because they are easily forgotten without a service
/// manager. `vmnuma doctor` recognises the notice by its beginning, and has a check of its own.
void report_missing_rights(Config& config) {
  const Result<std::string> missing =
      files::Directory::open("/proc/self")
          .and_then([](const files::Directory& self) { return self.read("status"); })
          .and_then([](const std::string& status) { return stats::lacking_capabilities(status); });
  if (missing && !missing->empty()) {
    config.notices.push_back(
        fmt::format("vmnumad lacks {}, which it needs to see where VMs' memory is and to move it; "
                    "root and vmnumad.service have both",
                    *missing));
  }
}

struct OpenHistory {
  std::unique_ptr<stats::History> history;
  std::int64_t last_action = 0;
};

/// Opens the history. Without the last action number every action would be refused, so a history
/// that cannot provide it counts as unusable.
Result<OpenHistory> open_history(const Config& config, bool is_damaged) {
  stats::HistoryOptions options = balancer::history_options(config);
  options.is_damaged = is_damaged;
  return stats::History::open(options).and_then([](std::unique_ptr<stats::History>&& history) {
    return history->last_action_id().map([&](std::int64_t last_action) {
      return OpenHistory{std::move(history), last_action};
    });
  });
}

Result<std::unique_ptr<Host>> open_host(const Arguments& arguments, const Config& config) {
  if (!arguments.simulated) {
    return LinuxHost::open(config);
  }
  const HostTime time(arguments.speed);
  return std::make_unique<LiveHost>(
      LiveHost::Setup{*arguments.simulated, time, live_clock(time), [](const std::string& news) {
                        fmt::print(stderr, "simulated host: {}\n", text::printable(news));
                      }});
}

/// Runs the service once. `config` is the configuration in effect, updated when it is read again;
/// `resumed` is the state of the previous run, if that ended because its history was damaged.
/// Errors: anything that prevents the service from running.
Result<Service::End> serve(const Arguments& arguments, Config& config, TaskBoard& board,
                           Signals& signals, std::optional<ControllerSetup>& resumed) {
  VMNUMA_ASSIGN_OR_RETURN(auto host, open_host(arguments, config));
  balancer::ServiceSetup setup{board, signals};
  // Each run of the service checks this itself, so it must not be part of the configuration that is
  // kept between runs.
  const auto with_missing_rights = [is_simulated = arguments.simulated.has_value()](Config noted) {
    if (!is_simulated) {
      report_missing_rights(noted);
    }
    return noted;
  };
  setup.config = with_missing_rights(config);
  setup.reload = [arguments, with_missing_rights, &config] {
    return read_config(arguments, Damaged::kSetAside).map([&](Config&& read) {
      config = without_restart(read, config);
      return with_missing_rights(std::move(read));
    });
  };
  setup.host = std::move(host);
  std::error_code unknown;
  setup.search_program = balancer::search_program(
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path());
  if (Result<OpenHistory> opened = open_history(config, resumed.has_value())) {
    setup.history = std::move(opened->history);
    setup.last_action = opened->last_action;
    if (resumed) {
      // If this fails, the next write fails, too, and is reported.
      (void)balancer::keep_known(*setup.history, *resumed);
    }
    setup.resumed = std::exchange(resumed, std::nullopt);
  } else {
    setup.history_problem = opened.error().message;
  }
  setup.try_history = [config] {
    return open_history(config, /*is_damaged=*/false).map([](OpenHistory&&) {});
  };
  return Service::create(std::move(setup)).map([&](std::unique_ptr<Service>&& service) {
    const Service::End end = service->run();
    if (auto known = service->to_resume()) {
      resumed = std::move(known);
    }
    const balancer::Settings& settings = service->settings();
    config.options = settings.options;
    config.origins = {settings.origins.begin(), settings.origins.end()};
    return end;
  });
}

/// Shows a recording until stopped, within the limits of `vmnuma replay`. Errors: those of the
/// recording, the history and the socket; no-space.
Result<Service::End> show_recording(const Arguments& arguments, const Config& config,
                                    Signals& signals) try {
  VMNUMA_RETURN_IF_ERROR(limit_this_process(kPlaybackLimits));
  return RecordedService::create({signals, arguments.recording, config.socket_path,
                                  config.socket_group, config.log_level, arguments.speed,
                                  [state_dir = config.state_dir] {
                                    return forget_state(state_dir).and_then([&] {
                                      return stats::History::open({state_dir + "/history.sqlite"});
                                    });
                                  }})
      .map([](std::unique_ptr<RecordedService>&& service) {
        service->run();
        return Service::End::kStopped;
      });
} catch (const std::bad_alloc&) {
  return failure(ErrorCode::kNoSpace,
                 fmt::format("'{}' needs more memory than it may have", arguments.recording));
}

int run(const Arguments& arguments, TaskBoard& board, Signals& signals) {
  Result<Config> config = read_config(arguments, Damaged::kLeave);
  if (!config) {
    return fail(kExitConfig, config.error().message);
  }
  if (arguments.check_config) {
    for (const std::string& notice : config->notices) {
      fmt::print(stderr, "vmnumad: {}\n", text::printable(notice));
    }
    fmt::print("ok\n");
    return kExitOk;
  }
  if (arguments.is_elsewhere()) {
    if (const auto made = make_private_folder(sim_folder()); !made) {
      return fail(kExitFailed, made.error().message);
    }
  }
  raise_file_limit();
  // Check the socket's place before anything is created, unless creating the state directory also
  // creates the socket's.
  if (std::filesystem::path(config->socket_path).parent_path() != config->state_dir) {
    if (const auto possible = ControlSocket::check_place(config->socket_path, config->socket_group);
        !possible) {
      return fail(kExitFailed, possible.error().message);
    }
  }
  const Result<FileDescriptor> lock = lock_state_dir(config->state_dir);
  if (!lock) {
    return fail(lock.error().code == ErrorCode::kBusy ? kExitAlreadyRunning : kExitFailed,
                lock.error().message);
  }
  if (arguments.simulated && arguments.state_dir.empty()) {
    if (const auto emptied = forget_state(config->state_dir); !emptied) {
      return fail(kExitFailed, emptied.error().message);
    }
  }
  // Read it again, now that no other process may set files of the state directory aside.
  config = read_config(arguments, Damaged::kSetAside);
  if (!config) {
    return fail(kExitConfig, config.error().message);
  }
  std::optional<ControllerSetup> resumed;
  for (;;) {
    const Result<Service::End> ended = arguments.recording.empty()
                                           ? serve(arguments, *config, board, signals, resumed)
                                           : show_recording(arguments, *config, signals);
    if (!ended) {
      return fail(ended.error().code == ErrorCode::kBusy ? kExitAlreadyRunning : kExitFailed,
                  ended.error().message);
    }
    if (*ended == Service::End::kStopped) {
      return kExitOk;
    }
  }
}

int start(int argc, char** argv) {
  // Created first, so that no signal is lost, and destroyed last.
  TaskBoard board;
  Signals signals(board);
  Arguments arguments;
  CLI::App app("Balances KVM virtual machines over the host's NUMA nodes", "vmnumad");
  app.add_option("--config", arguments.config_path,
                 fmt::format("Configuration file (default {})", balancer::kDefaultConfigPath))
      ->type_name("FILE");
  app.add_flag("--check-config", arguments.check_config, "Check the configuration and exit");
  app.add_flag("--dry-run", arguments.dry_run,
               "Decide and report what would be done, but change no VM");
  app.add_option("--connect", arguments.uri, "libvirt connection (default qemu:///system)")
      ->type_name("URI");
  app.add_option("--socket", arguments.socket_path,
                 fmt::format("Control socket (default {})", balancer::kDefaultSocketPath))
      ->type_name("PATH");
  app.add_option("--state-dir", arguments.state_dir,
                 "Directory of history and lock (default /var/lib/vmnuma)")
      ->type_name("DIR");
  std::string scenario;
  const CLI::Option* simulate =
      app.add_option(
             "--simulate", scenario,
             fmt::format("Run on a simulated host: a scenario file, or the name of one that "
                         "comes with the program (default {})",
                         kUsualScenario))
          ->expected(0, 1)
          ->type_name("[SCENARIO]")
          ->excludes("--connect");
  app.add_option("--replay", arguments.recording,
                 "Show the host of a recording made by `vmnuma record`")
      ->type_name("FILE")
      ->excludes("--connect")
      ->excludes("--simulate")
      ->excludes("--dry-run");
  const CLI::Option* speed = app.add_option("--speed", arguments.speed,
                                            "Run --simulate or --replay N times as fast, 1 to 60")
                                 ->check(CLI::Range(1, 60).description(""))
                                 ->type_name("N");
  app.set_version_flag("--version", "vmnumad " VMNUMA_VERSION);
  app.footer(
      "Examples:\n"
      "  vmnumad --check-config          Check the configuration before a restart\n"
      "  vmnumad --simulate              Try everything out on a simulated host\n"
      "  vmnumad --replay host.rec       Look at a recording");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(kExitUsage, problem_of(app, error) + "; see vmnumad --help");
  }
  if (speed->count() > 0 && simulate->count() == 0 && arguments.recording.empty()) {
    return fail(kExitUsage,
                "--speed can be used only with --simulate or --replay; see vmnumad --help");
  }
  if (simulate->count() > 0) {
    auto found = find_scenario(scenario.empty() ? kUsualScenario : scenario, scenario_directory());
    if (!found) {
      return fail(kExitUsage, found.error().message);
    }
    arguments.simulated = std::move(*found);
  }
  return run(arguments, board, signals);
}

}  // namespace

}  // namespace vmnuma::tools

int main(int argc, char** argv) {
  return vmnuma::tools::start(argc, argv);
}
