# SPDX-License-Identifier: Apache-2.0
# sched-stats -t numa-pnode | awk -f used_per_node.awk: busy share of each node, and of the host.
NR > 1 {
  printf "node %d: %d of %d ms\n", $1, $2, $2 + $3
  used += $2
  all += $2 + $3
}
END { printf "host: %d of %d ms\n", used, all }
