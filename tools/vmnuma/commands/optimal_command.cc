// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/optimal_command.h"

#include <string>

#include "tools/vmnuma/commands/outlook_apart.h"
#include "tools/vmnuma/terminal/messages.h"
#include "tools/vmnuma/text/optimal_text.h"

namespace vmnuma::tools {

using balancer::Outlook;
using balancer::Repack;

tl::expected<std::string, Refusal> find_optimal_plan(const Invocation& invocation,
                                                     const OptimalRun& search, bool json,
                                                     const Surroundings& surroundings) {
  const auto shown = [json](const Repack& repack, const Outlook& outlook) {
    return json ? json_of(repack, outlook) : text_of(repack, outlook);
  };
  return make_apart(
      invocation,
      {search.seconds, search.memory_mib,
       [&](const Outlook& outlook) {
         return shown(
             plan_repack(outlook.snapshot, outlook.options, outlook.circumstances,
                         {static_cast<double>(search.seconds), Permille{search.gap}}, seconds_now),
             outlook);
       },
       [&](const Outlook& outlook, const std::string& trouble) {
         return shown(
             plan_without_solver(outlook.snapshot, outlook.options, outlook.circumstances, trouble),
             outlook);
       }},
      surroundings);
}

int OptimalRun::run(const Invocation& invocation, Surroundings& surroundings) const {
  const auto found = find_optimal_plan(invocation, *this, invocation.json, surroundings);
  if (!found) {
    return fail(invocation, surroundings, found.error());
  }
  return print(invocation, surroundings, *found);
}

}  // namespace vmnuma::tools
