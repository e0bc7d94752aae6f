// SPDX-License-Identifier: Apache-2.0
#include "balancer/config/persisted_options.h"

#include <utility>

#include <fmt/format.h>

#include "balancer/config/parse.h"
#include "placement/model/options.h"
#include "stats/files/file.h"

namespace vmnuma::balancer {

namespace {

constexpr std::size_t kMostPersistedBytes = 64 * 1024;

std::string path_in(const std::string& state_dir) {
  return state_dir + "/options.toml";
}

ParsedOptions read_persisted(const std::string& path) {
  auto text = files::read_file(path, kMostPersistedBytes);
  if (text) {
    return parse_options(*text, path);
  }
  if (text.error().code == ErrorCode::kNotFound) {
    return {};
  }
  return {{}, std::move(text).error()};
}

Result<void> write_persisted(const std::string& path, const OptionValues& values) {
  std::string text =
      "# Written by vmnumad for `vmnuma options set --persist`. Goes before "
      "vmnuma.toml.\n[options]\n";
  for (const auto& [option, value] : values) {
    text += fmt::format("\"{}\" = {}\n", option, value);
  }
  return files::replace_file(path, text);
}

/// Deals with the file and returns what was done, as text for people.
std::string deal_with(const std::string& path, const ParsedOptions& parsed) {
  if (parsed.problem->code != ErrorCode::kInvalidArgument) {
    return "it is left as it is";  // it may be valid, but unreadable now
  }
  const Result<std::string> target = files::set_aside(path);
  if (!target) {
    return target.error().message;
  }
  std::string done = fmt::format("it was set aside as '{}'", *target);
  if (parsed.values.empty()) {
    return done;
  }
  const Result<void> kept = write_persisted(path, parsed.values);
  return fmt::format(
      "{}; {} of its options {}", done, parsed.values.size(),
      kept ? "go on to count" : "count only until the next start: " + kept.error().message);
}

}  // namespace

void apply_persisted_options(Config& config, Damaged damaged) {
  const std::string path = path_in(config.state_dir);
  const ParsedOptions parsed = read_persisted(path);
  apply_options(config, parsed.values, Origin::kPersisted);
  if (parsed.problem) {
    config.notices.push_back(
        fmt::format("the persisted options are not in order: {}; {}", parsed.problem->message,
                    damaged == Damaged::kSetAside ? deal_with(path, parsed)
                                                  : "the daemon would go on with the others"));
  }
}

Result<void> persist_option(const std::string& state_dir, std::string_view name,
                            std::int64_t value) {
  Options scratch;
  VMNUMA_RETURN_IF_ERROR(set_option(scratch, name, value));
  ParsedOptions persisted = read_persisted(path_in(state_dir));
  if (persisted.problem) {
    return failure(std::move(*persisted.problem), "while reading the persisted options");
  }
  persisted.values[std::string(name)] = value;
  return write_persisted(path_in(state_dir), persisted.values);
}

}  // namespace vmnuma::balancer
