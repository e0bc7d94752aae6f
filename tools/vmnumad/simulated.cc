// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnumad/simulated.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balancer/model/view.h"
#include "placement/model/options.h"
#include "tools/client/sim_folder.h"

namespace vmnuma::tools {

using balancer::Config;
using balancer::Origin;

Result<void> make_private_folder(const std::string& path) {
  constexpr mode_t kMine = 0700;
  if (::mkdir(path.c_str(), kMine) != 0 && errno != EEXIST) {
    return failure(errno == EACCES ? ErrorCode::kPermissionDenied : ErrorCode::kIo,
                   fmt::format("cannot make '{}': {}", path, std::strerror(errno)), errno);
  }
  struct stat status {};
  // lstat, because a symbolic link may have been made by another user.
  if (::lstat(path.c_str(), &status) != 0) {
    return failure(ErrorCode::kIo, fmt::format("cannot read '{}': {}", path, std::strerror(errno)),
                   errno);
  }
  constexpr mode_t kOthers = 0077;
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0) {
    return failure(ErrorCode::kPermissionDenied,
                   fmt::format("'{}' is not a folder of this user alone, so it is not used; "
                               "remove it, or set XDG_RUNTIME_DIR",
                               path));
  }
  return {};
}

Result<void> forget_state(const std::string& state_dir) {
  namespace fs = std::filesystem;
  std::error_code problem;
  for (fs::directory_iterator entry(state_dir, problem); !problem && entry != fs::end(entry);
       entry.increment(problem)) {
    if (entry->path().filename() != "lock") {
      fs::remove_all(entry->path(), problem);
    }
    if (problem) {
      break;
    }
  }
  if (problem) {
    return failure(ErrorCode::kIo,
                   fmt::format("cannot empty '{}': {}", state_dir, problem.message()),
                   problem.value());
  }
  return {};
}

namespace {

template <class T>
void set_unless_set(Config& config, std::string_view key, T& value,
                    const std::type_identity_t<T>& wanted) {
  if (config.origin_of(key) == Origin::kDefault && value != wanted) {
    value = wanted;
    config.origins[std::string(key)] = Origin::kCommandLine;
  }
}

}  // namespace

Config private_config(Config read, const std::string& folder) {
  Config config = std::move(read);
  set_unless_set(config, "socket_path", config.socket_path, sim_socket(folder));
  set_unless_set(config, "socket_group", config.socket_group, "");
  set_unless_set(config, "state_dir", config.state_dir, folder + "/state");
  return config;
}

Config simulated_config(Config read, const Scenario& scenario, const std::string& folder) {
  Config config = private_config(std::move(read), folder);
  config.uri = std::string(balancer::kSimulatedUri) + scenario.name;
  config.origins["uri"] = Origin::kCommandLine;
  set_unless_set(config, "mode", config.mode, balancer::Mode::kActive);
  set_unless_set(config, "strategy", config.strategy, scenario.strategy);
  for (const OptionRow& option : option_table()) {
    set_unless_set(config, option.name, config.options.*(option.value),
                   scenario.options.*(option.value));
  }
  return config;
}

}  // namespace vmnuma::tools
