// SPDX-License-Identifier: Apache-2.0
/// Sets the time zone of the environment during this object's lifetime.
#pragma once

#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

namespace vmnuma::tests {

class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    if (const char* before = std::getenv("TZ")) {
      before_ = before;
    }
    ::setenv("TZ", zone, /*overwrite=*/1);
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
  ~TimeZone() {
    if (before_) {
      ::setenv("TZ", before_->c_str(), /*overwrite=*/1);
    } else {
      ::unsetenv("TZ");
    }
    ::tzset();
  }

 private:
  std::optional<std::string> before_;
};

}  // namespace vmnuma::tests
