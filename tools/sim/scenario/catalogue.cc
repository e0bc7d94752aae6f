// SPDX-License-Identifier: Apache-2.0
#include "tools/sim/scenario/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "placement/model/suggest.h"
#include "tools/sim/scenario/scenario_file.h"

namespace vmnuma::tools {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSuffix = ".toml";

Result<std::vector<std::string>> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator entry(directory, problem); !problem && entry != fs::end(entry);
       entry.increment(problem)) {
    if (entry->path().extension() == kSuffix) {
      names.push_back(entry->path().stem().string());
    }
  }
  if (problem) {
    return failure(
        ErrorCode::kNotFound,
        fmt::format("cannot read the scenarios in '{}': {}", directory, problem.message()),
        problem.value());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string path_of(const std::string& directory, const std::string& name) {
  return (fs::path(directory) / name).string().append(kSuffix);
}

}  // namespace

std::string scenario_directory() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return (self.parent_path().parent_path() / "share/vmnuma/scenarios").string();
}

Result<std::vector<Scenario>> list_scenarios(const std::string& directory) {
  VMNUMA_ASSIGN_OR_RETURN(const auto names, names_in(directory));
  std::vector<Scenario> scenarios;
  for (const std::string& name : names) {
    VMNUMA_ASSIGN_OR_RETURN(auto scenario, read_scenario(path_of(directory, name)));
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

Result<Scenario> find_scenario(const std::string& name, const std::string& directory) {
  std::error_code not_there;
  if (name == "-" || fs::exists(name, not_there) || name.find('/') != std::string::npos ||
      name.ends_with(kSuffix)) {
    return read_scenario(name);
  }
  const std::vector<std::string> names = names_in(directory).value_or(std::vector<std::string>{});
  if (std::binary_search(names.begin(), names.end(), name)) {
    return read_scenario(path_of(directory, name));
  }
  return failure(ErrorCode::kNotFound,
                 fmt::format("there is neither a file nor a scenario named '{}'{}", name,
                             did_you_mean(name, {names.begin(), names.end()})));
}

}  // namespace vmnuma::tools
