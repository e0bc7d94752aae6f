// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/export_host.h"

#include <string>

#include "stats/linux/host_name.h"
#include "tools/vmnuma/advise/host_file.h"
#include "tools/vmnuma/commands/host_config.h"
#include "tools/vmnuma/terminal/messages.h"

namespace vmnuma::tools {

int export_host(const ExportRun& run, const Invocation& invocation, Surroundings& surroundings) {
  if (run.follow || invocation.watch) {
    return fail(invocation, surroundings,
                {ErrorCode::kInvalidArgument, 0,
                 "a host is exported once; --watch and --follow are for the other formats"},
                kExitUsage);
  }
  if (invocation.sim) {
    return fail(invocation, surroundings,
                {ErrorCode::kInvalidArgument, 0,
                 "the host format describes this host, not the simulated one; omit --sim"},
                kExitUsage);
  }
  const auto config = read_host_config(run.root, invocation, surroundings);
  if (!config) {
    return fail(invocation, surroundings, config.error(), kExitUsage);
  }
  auto host = read_advice_host(run.root);
  if (!host) {
    return fail(invocation, surroundings, host.error(), kExitRefused);
  }
  host->prefer_ht = config->options.prefer_ht != 0;
  return print(
      invocation, surroundings,
      host_file_text(*host, run.name.value_or(stats::host_name()), invocation.json ? -1 : 2));
}

}  // namespace vmnuma::tools
