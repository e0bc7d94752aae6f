// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/commands/optimal_command.h"

#include <string>

#include "tools/vmnuma/commands/outlook_apart.h"
#include "tools/vmnuma/terminal/context.h"
#include "tools/vmnuma/text/optimal_text.h"

namespace vmnuma::tools {

using balancer::Outlook;
using balancer::Repack;

OrFailure<std::string> find_optimal_plan(const Context& context, const OptimalRun& search,
                                         bool json) {
  const auto shown = [json](const Repack& repack, const Outlook& outlook) {
    return json ? json_of(repack, outlook) : text_of(repack, outlook);
  };
  return make_apart(
      context,
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
       }});
}

OrFailure<int> OptimalRun::run(const Context& context) const {
  return find_optimal_plan(context, *this, context.invocation.json)
      .map([&](const std::string& found) { return context.print(found); });
}

}  // namespace vmnuma::tools
