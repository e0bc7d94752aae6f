// SPDX-License-Identifier: Apache-2.0
#include "placement/model/device_names.h"

#include <cstddef>

namespace vmnuma::placement {
namespace {

constexpr std::size_t kInterfaceNameSize = 16;  // IFNAMSIZ, with the final zero
constexpr std::size_t kMostDeviceName = 200;    // of a file's name, with room for what goes before

}  // namespace

bool is_interface_name(std::string_view name) {
  return !name.empty() && name.size() < kInterfaceNameSize && name != "." && name != ".." &&
         name.find_first_of("/: \t\n\v\f\r") == std::string_view::npos;
}

bool is_device_name(std::string_view name) {
  return !name.empty() && name.size() < kMostDeviceName && name.front() != '/' &&
         name.front() != '.' && name.find("/.") == std::string_view::npos &&
         name.find('\n') == std::string_view::npos;
}

}  // namespace vmnuma::placement
