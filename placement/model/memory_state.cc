// SPDX-License-Identifier: Apache-2.0
#include "placement/model/memory_state.h"

namespace vmnuma {

std::vector<std::string> slices_above(std::string_view scope) {
  std::vector<std::string> slices;
  for (std::size_t slash = scope.find('/'); slash != std::string_view::npos;
       slash = scope.find('/', slash + 1)) {
    const std::string_view path = scope.substr(0, slash);
    if (path.ends_with(".slice")) {
      slices.emplace_back(path);
    }
  }
  return slices;
}

std::string_view unit_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace vmnuma
