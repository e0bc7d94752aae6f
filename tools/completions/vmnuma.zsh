#compdef vmnuma
# SPDX-License-Identifier: Apache-2.0
# Completion of vmnuma(1) for zsh. Its commands and options are made from the program's own table.

_vmnuma_offer() {  # offers the values of the kind in the last argument; the others are compadd's
  local -a ask=(vmnuma) offered
  local kind=${@[-1]} member
  if [[ -n ${opt_args[--socket]-} ]]; then
    ask+=(--socket ${(Q)opt_args[--socket]})
  elif (( ${words[(I)--sim]} + ${words[(I)sim]} )); then  # what is played with are the simulated daemon's VMs
    ask+=(--sim)
  fi
  case $kind in
    vm) ask+=(stats -t numa-clients); member=vmName ;;
    node) ask+=(stats -t numa-pnode); member=nodeID ;;
    option) ask+=(options list); member=name ;;
    scenario) ask+=(sim list); member=name ;;
    type)
      compadd "${@[1,-2]}" -- $(
@types@
      )
      return
      ;;
    format)
      compadd "${@[1,-2]}" -- $(
@formats@
      )
      return
      ;;
    form)
      compadd "${@[1,-2]}" -- $(
@forms@
      )
      return
      ;;
  esac
  offered=(${(f)"$($ask --json 2>/dev/null | command grep -Eo "\"$member\":(\"[^\"]*\"|[0-9]+)" |
    command sed 's/^[^:]*://; s/"//g' | command sort -u)"})
  compadd "${@[1,-2]}" -a offered
}

@functions@
_vmnuma "$@"
