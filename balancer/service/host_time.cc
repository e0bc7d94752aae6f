// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/host_time.h"

namespace vmnuma::balancer {

using std::chrono::steady_clock;
using std::chrono::system_clock;

steady_clock::duration HostTime::ahead() const {
  return (steady_clock::now().time_since_epoch() - begin_) * (speed_ - 1);
}

Microseconds HostTime::now() const {
  const auto now = steady_clock::now().time_since_epoch() + ahead();
  return {std::chrono::duration_cast<std::chrono::microseconds>(now).count()};
}

system_clock::time_point HostTime::wall() const {
  return system_clock::now() + std::chrono::duration_cast<system_clock::duration>(ahead());
}

std::int64_t HostTime::wall_unix_s() const {
  return std::chrono::duration_cast<std::chrono::seconds>(wall().time_since_epoch()).count();
}

}  // namespace vmnuma::balancer
