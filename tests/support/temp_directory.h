// SPDX-License-Identifier: Apache-2.0
/// A directory of the test's own, removed with this object. Its path is short enough for a socket
/// in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "placement/base/result.h"

namespace vmnuma::tests {

class TempDirectory {
 public:
  TempDirectory() : path_((std::filesystem::temp_directory_path() / "vmnuma.XXXXXX").string()) {
    VMNUMA_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;  // leftovers are in the temporary directory anyway
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace vmnuma::tests
