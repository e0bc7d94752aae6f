// SPDX-License-Identifier: Apache-2.0
#include "placement/model/device_names.h"

#include <algorithm>
#include <cstddef>

namespace vmnuma {
namespace {

constexpr std::size_t kInterfaceNameSize = 16;  // IFNAMSIZ, with the final zero
constexpr std::size_t kMostDeviceName = 200;    // of a file's name, with room for its folder

constexpr std::size_t kMostPoolName = 64;

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

bool is_pool_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostPoolName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

bool is_pci_address(std::string_view text) {
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           return shape == 'x'
                      ? std::string_view("0123456789abcdef").find(c) != std::string_view::npos
                      : c == shape;
         });
}

}  // namespace vmnuma
