// SPDX-License-Identifier: Apache-2.0
#include "tools/vmnuma/export/export_host.h"

#include <string>

#include "balancer/config/config.h"
#include "stats/linux/host_name.h"
#include "tools/vmnuma/advise/host_file.h"
#include "tools/vmnuma/terminal/messages.h"

namespace vmnuma::tools {

int export_host(const ExportRun& run, const Invocation& invocation, Surroundings& surroundings) {
  if (run.follow || invocation.watch) {
    return fail(invocation, surroundings,
                {ErrorCode::kInvalidArgument, 0,
                 "a host is exported once; --watch and --follow are for the other formats"},
                kExitUsage);
  }
  auto host = read_advice_host(run.root);
  if (!host) {
    return fail(invocation, surroundings, host.error(), kExitRefused);
  }
  // Without permission to read the daemon's configuration, the defaults are exported.
  host->prefer_ht =
      balancer::load_config(std::string(balancer::kDefaultConfigPath), balancer::FileIs::kOptional)
          .value_or(balancer::Config{})
          .options.prefer_ht != 0;
  return print(
      invocation, surroundings,
      host_file_text(*host, run.name.value_or(stats::host_name()), invocation.json ? -1 : 2));
}

}  // namespace vmnuma::tools
