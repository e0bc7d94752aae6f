# SPDX-License-Identifier: Apache-2.0
# sched-stats -t numa-migration | awk -f migrations_per_vm.awk: moves and swaps of all clients of each VM.
NR == 1 {
  for (i = 1; i <= NF; i++) {
    column[$i] = i
  }
  next
}
{
  for (i = column["balanceMig"]; i <= column["localitySwap"]; i++) {
    moves[$1] += $i
  }
  if (!($1 in order)) {
    order[$1] = ++vms
    name[vms] = $1
  }
}
END {
  for (i = 1; i <= vms; i++) {
    print name[i], moves[name[i]]
  }
}
