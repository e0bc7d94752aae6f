// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/model_file.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "stats/files/file.h"
#include "stats/text/json.h"

namespace vmnuma::stats {

using Json = nlohmann::json;

namespace {

constexpr const char* kFormat = "vmnuma-forecast-model";
/// A model of a few hundred trees takes less than a tenth of this.
constexpr std::size_t kLargestFile = std::size_t{32} << 20U;
constexpr unsigned int kMode = 0640;

/// FNV-1a (Fowler, Noll, Vo; RFC draft eastlake-fnv), 64 bits.
std::string checksum_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  }
  return fmt::format("{:016x}", hash);
}

/// Converts a number; anything else gives -1 and clears `fits`.
std::int32_t number_of(const Json& json, bool& fits) {
  const std::optional<std::int64_t> value = text::integer_of(json);
  if (value && std::in_range<std::int32_t>(*value)) {
    return static_cast<std::int32_t>(*value);
  }
  fits = false;
  return -1;
}

bool read_trees(const Json& json, std::vector<Tree>& trees) {
  bool fits = json.is_array();
  for (const Json& list : fits ? json : Json::array()) {
    Tree& tree = trees.emplace_back();
    for (const Json& fields : list.is_array() ? list : Json::array()) {
      if (!fields.is_array() || fields.size() != 5) {
        return false;
      }
      tree.push_back({number_of(fields[0], fits), number_of(fields[1], fits),
                      number_of(fields[2], fits), number_of(fields[3], fits),
                      number_of(fields[4], fits)});
    }
  }
  return fits;
}

bool has_our_features(const Json& model) {
  const auto names = model.find("features");
  Json ours = Json::array();
  for (const std::string_view name : feature_names()) {
    ours.push_back(name);
  }
  return names != model.end() && *names == ours;
}

}  // namespace

Result<TreeModel> read_model(const std::filesystem::path& path) {
  VMNUMA_ASSIGN_OR_RETURN(const auto text, files::read_file(path, kLargestFile));
  return parse_model(text).map_error([&](Error error) {
    error.message = fmt::format("the model '{}' is refused: {}", path.string(), error.message);
    return error;
  });
}

Result<TreeModel> parse_model(std::string_view text) {
  const Result<Json> read_text = text::read_json<Json>(text, {kLargestFile}, "the file");
  if (!read_text) {
    return failure(ErrorCode::kCorrupt, "it is cut off, or no model: " + read_text.error().message);
  }
  const Json& json = *read_text;
  if (json.value("format", Json()) != kFormat) {
    return failure(ErrorCode::kCorrupt, "it is cut off, or no model");
  }
  if (json.value("version", Json()) != kModelVersion) {
    return failure(ErrorCode::kUnsupported, fmt::format("it is not of version {}", kModelVersion));
  }
  const auto model = json.find("model");
  if (model == json.end() || !model->is_object() ||
      json.value("checksum", Json()) != checksum_of(model->dump())) {
    return failure(ErrorCode::kCorrupt, "its checksum is wrong, so it is damaged");
  }
  if (!has_our_features(*model)) {
    return failure(ErrorCode::kUnsupported, "it was trained on other figures");
  }
  TreeModel read;
  const auto until = model->find("trained_until");
  const auto trees = model->find("trees");
  if (until == model->end() || !text::integer_of(*until) || trees == model->end() ||
      !read_trees(*trees, read.trees) || !is_sound(read)) {
    return failure(ErrorCode::kCorrupt, "its trees are invalid");
  }
  read.trained_until = *text::integer_of(*until);
  return read;
}

Result<void> write_model(const std::filesystem::path& path, const TreeModel& model) {
  Json content;
  content["features"] = feature_names();
  content["trained_until"] = model.trained_until;
  Json trees = Json::array();
  for (const Tree& tree : model.trees) {
    Json& list = trees.emplace_back(Json::array());
    for (const TreeNode& node : tree) {
      list.push_back({node.feature, node.threshold, node.left, node.right, node.correction});
    }
  }
  content["trees"] = std::move(trees);
  Json file;
  file["format"] = kFormat;
  file["version"] = kModelVersion;
  file["checksum"] = checksum_of(content.dump());
  file["model"] = std::move(content);

  return files::replace_file(path, file.dump() + "\n", kMode);
}

}  // namespace vmnuma::stats
