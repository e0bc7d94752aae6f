// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/advise/kept_definitions.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "placement/base/number.h"
#include "placement/model/text.h"
#include "stats/files/directory.h"
#include "stats/files/file.h"
#include "stats/files/file_descriptor.h"
#include "tools/vmnuma/advise/virsh.h"

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

struct FileName {
  VmId vm;
  std::int64_t number = 0;
};

/// Parses "UUID.NUMBER.xml"; nothing for other files.
std::optional<FileName> parse_name(std::string_view name) {
  constexpr std::string_view kEnd = ".xml";
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || !name.ends_with(kEnd) ||
      name.size() <= dot + 1 + kEnd.size()) {
    return std::nullopt;
  }
  const auto vm = parse_vm_id(name.substr(0, dot));
  const std::string_view text = name.substr(dot + 1, name.size() - dot - 1 - kEnd.size());
  const auto number = whole_number<std::int64_t>(text);
  return vm && number ? std::optional(FileName{*vm, *number}) : std::nullopt;
}

/// Returns what is kept in the folder, unsorted.
Result<std::vector<FileName>> kept_names(const std::string& folder) {
  return files::Directory::open(folder)
      .and_then([](const files::Directory& directory) { return directory.names(); })
      .map([](const std::vector<std::string>& names) {
        std::vector<FileName> kept;
        for (const std::string& name : names) {
          if (const auto parsed = parse_name(name)) {
            kept.push_back(*parsed);
          }
        }
        return kept;
      });
}

/// Returns the numbers in the names of this VM's files, ascending.
Result<std::vector<std::int64_t>> numbers_of(const std::string& folder, const VmId& vm) {
  return kept_names(folder).map([&](const std::vector<FileName>& kept) {
    std::vector<std::int64_t> numbers;
    for (const FileName& name : kept) {
      if (name.vm == vm) {
        numbers.push_back(name.number);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  });
}

std::string path_of(const std::string& folder, const VmId& vm, std::int64_t number) {
  return fmt::format("{}/{}.{}.xml", folder, to_text(vm), number);
}

}  // namespace

Result<std::string> keep_definition(const std::string& folder, const VmId& vm,
                                    const std::string& xml) {
  if (mkdir(folder.c_str(), kOwnersOnly) != 0 && errno != EEXIST) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot make '{}'", folder)));
  }
  VMNUMA_RETURN_IF_ERROR(check_folder(folder));
  return numbers_of(folder, vm).and_then([&](const std::vector<std::int64_t>& numbers) {
    std::string path = path_of(folder, vm, numbers.empty() ? 1 : numbers.back() + 1);
    return files::replace_file(path, xml, kOwnersFile).map([&] { return path; });
  });
}

Result<KeptDefinition> newest_definition(const std::string& folder, const VmId& vm) {
  const auto none = [&] {
    return failure(
        ErrorCode::kNotFound,
        fmt::format("no earlier definition of VM {} is kept in '{}'", to_text(vm), folder));
  };
  if (auto checked = check_folder(folder); !checked) {
    return checked.error().code == ErrorCode::kNotFound ? none() : tl::unexpected(checked.error());
  }
  VMNUMA_ASSIGN_OR_RETURN(const auto numbers, numbers_of(folder, vm));
  if (numbers.empty()) {
    return none();
  }
  const std::string path = path_of(folder, vm, numbers.back());
  return files::read_file(path, kMostXml).map([&](std::string xml) {
    return KeptDefinition{path, std::move(xml)};
  });
}

Result<std::vector<KeptFile>> kept_definitions(const std::string& folder) {
  if (auto checked = check_folder(folder); !checked) {
    if (checked.error().code == ErrorCode::kNotFound) {
      return std::vector<KeptFile>{};
    }
    return tl::unexpected(std::move(checked).error());
  }
  return kept_names(folder).map([&](std::vector<FileName> names) {
    std::sort(names.begin(), names.end(), [](const FileName& a, const FileName& b) {
      return std::pair(a.vm, b.number) < std::pair(b.vm, a.number);
    });
    std::vector<KeptFile> kept;
    for (const FileName& name : names) {
      KeptFile file{name.vm, path_of(folder, name.vm, name.number), 0};
      struct stat found {};
      if (lstat(file.path.c_str(), &found) == 0) {  // otherwise it has just been undone
        file.kept_unix_s = found.st_mtime;
        kept.push_back(std::move(file));
      }
    }
    return kept;
  });
}

Result<void> forget_definition(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return tl::unexpected(files::system_error(errno, fmt::format("cannot remove '{}'", path)));
  }
  return {};
}

}  // namespace vmnuma::tools
