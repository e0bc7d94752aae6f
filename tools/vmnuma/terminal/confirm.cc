// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/terminal/confirm.h"

#include <istream>
#include <ostream>

#include "tools/vmnuma/text/text.h"

namespace vmnuma::tools {

bool is_confirmed(const std::string& question, Surroundings& surroundings) {
  surroundings.err << printable(question) << " [y/N] " << std::flush;
  std::string answer;
  if (surroundings.in != nullptr) {
    std::getline(*surroundings.in, answer);
  }
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace vmnuma::tools
