#compdef vmnuma
# SPDX-License-Identifier: Apache-2.0
# Completion of vmnuma(1) for zsh. Its commands and options are made from the program's own table.

_vmnuma_offer() {  # offers the values of the kind in the last argument; the others are compadd's
  local -a ask=(vmnuma) offered
  local kind=${@[-1]%=}
  local -a end
  [[ $kind = ${@[-1]} ]] || end=(-S '=')  # the value follows at once
  if [[ -n ${opt_args[--socket]-} ]]; then
    ask+=(--socket ${(Q)opt_args[--socket]})
  elif (( ${words[(I)--sim]} + ${words[(I)sim]} )); then  # these are the simulated daemon's VMs
    ask+=(--sim)
  fi
  case $kind in
    vm) ask+=(list) ;;
    node) ask+=(stats -t numa-pnode) ;;
    option) ask+=(options list) ;;
    reservation) ask+=(reservations) ;;
    scenario) ask+=(sim list) ;;
  esac
  offered=(${(f)"$($ask -o name 2>/dev/null)"})
  compadd "${@[1,-2]}" $end -a offered
}

@functions@
_vmnuma "$@"
