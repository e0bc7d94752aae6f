// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/kept_definitions.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "placement/model/text.h"
#include "stats/files/directory.h"
#include "stats/files/file.h"
#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {

namespace {

constexpr mode_t kOwnersOnly = 0700;
constexpr mode_t kOthers = 0077;
constexpr unsigned int kOwnersFile = 0600;

Result<void> check_folder(const std::string& folder) {
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot look at '{}'", folder)));
  }
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & kOthers) != 0) {
    return failure(
        ErrorCode::kPermissionDenied,
        fmt::format("'{}' is not a folder of this user alone, nothing is kept there", folder));
  }
  return {};
}

/// The numbers in the names of the files of this VM.
Result<std::vector<std::int64_t>> numbers_of(const std::string& folder, const placement::VmId& vm) {
  const auto names = files::Directory::open(folder).and_then(
      [](const files::Directory& directory) { return directory.names(); });
  if (!names) {
    return tl::unexpected(names.error());
  }
  const std::string begin = placement::to_text(vm) + ".";
  constexpr std::string_view kEnd = ".xml";
  std::vector<std::int64_t> numbers;
  for (const std::string_view name : *names) {
    if (!name.starts_with(begin) || !name.ends_with(kEnd) ||
        name.size() <= begin.size() + kEnd.size()) {
      continue;
    }
    const std::string_view text =
        name.substr(begin.size(), name.size() - begin.size() - kEnd.size());
    std::int64_t number = 0;
    if (const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        error == std::errc{} && end == text.data() + text.size()) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string path_of(const std::string& folder, const placement::VmId& vm, std::int64_t number) {
  return fmt::format("{}/{}.{}.xml", folder, placement::to_text(vm), number);
}

}  // namespace

Result<std::string> keep_definition(const std::string& folder, const placement::VmId& vm,
                                    const std::string& xml) {
  if (mkdir(folder.c_str(), kOwnersOnly) != 0 && errno != EEXIST) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot make '{}'", folder)));
  }
  if (auto checked = check_folder(folder); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  return numbers_of(folder, vm).and_then([&](const std::vector<std::int64_t>& numbers) {
    std::string path = path_of(folder, vm, numbers.empty() ? 1 : numbers.back() + 1);
    return files::replace_file(path, xml, kOwnersFile).map([&] { return path; });
  });
}

Result<KeptDefinition> newest_definition(const std::string& folder, const placement::VmId& vm) {
  const auto none = [&] {
    return failure(ErrorCode::kNotFound,
                   fmt::format("no earlier definition of VM {} is kept in '{}'",
                               placement::to_text(vm), folder));
  };
  if (auto checked = check_folder(folder); !checked) {
    return checked.error().code == ErrorCode::kNotFound ? none() : tl::unexpected(checked.error());
  }
  const auto numbers = numbers_of(folder, vm);
  if (!numbers) {
    return tl::unexpected(numbers.error());
  }
  if (numbers->empty()) {
    return none();
  }
  const std::string path = path_of(folder, vm, numbers->back());
  return files::read_file(path, kMostXml).map([&](std::string xml) {
    return KeptDefinition{path, std::move(xml)};
  });
}

Result<void> forget_definition(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot remove '{}'", path)));
  }
  return {};
}

}  // namespace vmnuma::tools
