// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/persisted_options.h"

#include <utility>

#include <fmt/format.h>

#include "balancer/config/parse.h"
#include "files/file.h"
#include "placement/model/options.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostBytes = 64 * 1024;

std::string path_in(const std::string& state_dir) {
  return state_dir + "/options.toml";
}

Result<OptionValues> read_persisted(const std::string& state_dir) {
  const std::string path = path_in(state_dir);
  auto text = files::read_file(path, kMostBytes);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) {
      return OptionValues{};
    }
    return failure(std::move(text).error(), "while reading the persisted options");
  }
  return parse_options(*text, path);
}

}  // namespace

Result<void> apply_persisted_options(Config& config) {
  const auto values = read_persisted(config.state_dir);
  if (!values) {
    return tl::unexpected(values.error());
  }
  apply_options(config, *values, Origin::kPersisted);
  return {};
}

Result<void> persist_option(const std::string& state_dir, std::string_view name,
                            std::int64_t value) {
  placement::Options scratch;
  if (auto valid = placement::set_option(scratch, name, value); !valid) {
    return valid;
  }
  auto values = read_persisted(state_dir);
  if (!values) {
    return tl::unexpected(std::move(values).error());
  }
  (*values)[std::string(name)] = value;
  std::string text =
      "# Written by vmnumad for `vmnuma options set --persist`. Goes before "
      "vmnuma.toml.\n[options]\n";
  for (const auto& [option, current] : *values) {
    text += fmt::format("\"{}\" = {}\n", option, current);
  }
  return files::replace_file(path_in(state_dir), text);
}

}  // namespace vmnuma::balancer
