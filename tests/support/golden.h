// SPDX-License-Identifier: Apache-2.0
/// Texts kept in tests/golden, and the fixtures from which they are made.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace vmnuma::tests {

/// Returns the file's text; empty if there is no such file.
[[nodiscard]] inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns the file's contents. If VMNUMA_UPDATE_GOLDEN is in the environment, first writes `text`
/// to the file; for an empty text there is no file.
[[nodiscard]] inline std::string golden(const std::filesystem::path& path,
                                        const std::string& text) {
  if (std::getenv("VMNUMA_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::remove(path);
    if (!text.empty()) {
      std::ofstream(path, std::ios::binary) << text;
    }
  }
  return file_text(path);
}

/// Returns the names, without extension, of a folder's files with this extension (".xml"), sorted.
[[nodiscard]] inline std::vector<std::string> fixture_names(const std::filesystem::path& folder,
                                                            std::string_view extension) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) {
      names.push_back(entry.path().stem());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the name of the test case for a fixture.
[[nodiscard]] inline std::string fixture_case(const testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace vmnuma::tests
