// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/text/error_json.h"

#include <nlohmann/json.hpp>

#include "stats/text/json.h"

namespace vmnuma::tools {

std::string error_json(const Error& error) {
  const nlohmann::ordered_json json = {
      {"error", {{"code", name_of(error.code)}, {"message", error.message}}}};
  return text::json_text(json) + "\n";
}

}  // namespace vmnuma::tools
