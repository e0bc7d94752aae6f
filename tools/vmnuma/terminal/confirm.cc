// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/confirm.h"

#include <istream>
#include <ostream>

namespace vmnuma::tools {

bool is_confirmed(const std::string& question, Surroundings& surroundings) {
  surroundings.err << question << " [y/N] " << std::flush;
  std::string answer;
  if (surroundings.in != nullptr) {
    std::getline(*surroundings.in, answer);
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace vmnuma::tools
