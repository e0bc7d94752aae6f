// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast/model_file.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace vmnuma::stats {

using placement::feature_names;
using placement::Tree;
using placement::TreeModel;
using placement::TreeNode;
using Json = nlohmann::json;

namespace {

constexpr const char* kFormat = "vmnuma-forecast-model";
/// A model of a few hundred trees has less than a tenth of it.
constexpr std::size_t kLargestFile = std::size_t{32} << 20U;
constexpr mode_t kMode = 0640;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      (void)::close(fd_);  // what was written is synced already
    }
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> system_failure(std::string_view doing, const std::filesystem::path& path) {
  const int error = errno;
  const ErrorCode code = error == ENOENT                     ? ErrorCode::kNotFound
                         : error == EACCES || error == EPERM ? ErrorCode::kPermissionDenied
                         : error == ENOSPC                   ? ErrorCode::kNoSpace
                                                             : ErrorCode::kIo;
  return failure(
      code, fmt::format("cannot {} '{}': {}", doing, path.string(), std::strerror(error)), error);
}

tl::unexpected<Error> refusal(ErrorCode code, const std::filesystem::path& path,
                              std::string_view why) {
  return failure(code, fmt::format("the model '{}' is refused: {}", path.string(), why));
}

/// FNV-1a (Fowler, Noll, Vo; RFC draft eastlake-fnv), 64 bits.
std::string checksum_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  }
  return fmt::format("{:016x}", hash);
}

Result<std::string> read_all(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return system_failure("read", path);
  }
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got == 0) {
      return text;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_failure("read", path);
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kLargestFile) {
      return refusal(ErrorCode::kCorrupt, path, "it is too large");
    }
  }
}

/// -1 for what is no number that fits: no field may be that large or that small.
std::int32_t number_of(const Json& json, bool& fits) {
  if (json.is_number_integer()) {
    const auto value = json.get<std::int64_t>();
    if (value >= std::numeric_limits<std::int32_t>::min() &&
        value <= std::numeric_limits<std::int32_t>::max()) {
      return static_cast<std::int32_t>(value);
    }
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

Result<void> write_all(int file, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno != EINTR) {
      return system_failure("write", path);
    }
    text.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  if (::fsync(file) != 0) {
    return system_failure("write", path);
  }
  return {};
}

}  // namespace

Result<TreeModel> read_model(const std::filesystem::path& path) {
  const Result<std::string> text = read_all(path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    return refusal(ErrorCode::kCorrupt, path, "it is cut off, or no model");
  }
  if (json.value("version", Json()) != kModelVersion) {
    return refusal(ErrorCode::kUnsupported, path,
                   fmt::format("it is not of version {}", kModelVersion));
  }
  const auto model = json.find("model");
  if (model == json.end() || !model->is_object() ||
      json.value("checksum", Json()) != checksum_of(model->dump())) {
    return refusal(ErrorCode::kCorrupt, path, "its checksum is wrong, so it is damaged");
  }
  if (!has_our_features(*model)) {
    return refusal(ErrorCode::kUnsupported, path, "it was trained on other figures");
  }
  TreeModel read;
  const auto until = model->find("trained_until");
  const auto trees = model->find("trees");
  if (until == model->end() || !until->is_number_integer() || trees == model->end() ||
      !read_trees(*trees, read.trees) || !is_sound(read)) {
    return refusal(ErrorCode::kCorrupt, path, "its trees make no sense");
  }
  read.trained_until = until->get<std::int64_t>();
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

  const std::filesystem::path beside = path.string() + ".new";
  {
    const Descriptor made(
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kMode));
    if (made.get() < 0) {
      return system_failure("make", beside);
    }
    if (Result<void> written = write_all(made.get(), file.dump() + "\n", beside); !written) {
      return written;
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    return system_failure("replace", path);
  }
  const Descriptor directory(::open(path.parent_path().empty() ? "." : path.parent_path().c_str(),
                                    O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return system_failure("keep", path);
  }
  return {};
}

}  // namespace vmnuma::stats
