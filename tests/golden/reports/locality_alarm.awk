# SPDX-License-Identifier: Apache-2.0
# sched-stats -t numa-clients | awk -f locality_alarm.awk: clients with memory of which less than 80 % is local.
NR > 1 && $8 + $9 > 0 && $10 < 80 {
  printf "%s client %d on node %d: %d %% local, %.1f MB remote\n", $1, $3, $4, $10, $9 / 1024
}
