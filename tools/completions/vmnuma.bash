# SPDX-License-Identifier: Apache-2.0
# Completion of vmnuma(1) for bash. Its tables are made from the program's own.

_vmnuma_commands() {  # the commands below $1
  case $1 in
@commands@
  esac
}

_vmnuma_options() {  # the options of $1
  case $1 in
@options@
  esac
}

_vmnuma_arguments() {  # the kinds of the arguments of $1, in order; the one before '*' repeats
  case $1 in
@arguments@
  esac
}

_vmnuma_value_kind() {  # the kind of the word after the option $2 of $1; fails if there is none
  case "$1 $2" in
@values@
    *) return 1 ;;
  esac
}

_vmnuma_values() {  # the values of the kind $1, one per line; the rest is the program to ask
  local kind=$1
  shift
  case $kind in
    *:*) ;;
    *=) _vmnuma_values "${kind%=}" "$@" | sed 's/$/=/'; return ;;
  esac
  case $kind in
    vm) set -- "$@" list ;;
    node) set -- "$@" stats -t numa-pnode ;;
    option) set -- "$@" options list ;;
    reservation) set -- "$@" reservations ;;
    scenario) set -- "$@" sim list ;;
    one-of:*) tr '|' '\n' <<<"${kind#one-of:}"; return ;;
    *) return ;;
  esac
  "$@" -o name 2>/dev/null
}

_vmnuma() {
  local current=${COMP_WORDS[COMP_CWORD]} command='' option='' kind='' word
  local -a ask=("${COMP_WORDS[0]}") kinds=() words=()
  local -i i arguments=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $option ]]; then
      [[ $option != --socket ]] || ask+=(--socket "$word")
      option=
    elif [[ $word == -* ]]; then
      [[ $word != --sim ]] || ask+=(--sim)
      ! _vmnuma_value_kind "$command" "$word" >/dev/null || option=$word
    elif [[ " $(_vmnuma_commands "$command") " == *" $word "* ]]; then
      command=${command:+$command }$word
    else
      arguments+=1
    fi
  done

  # These commands are about the simulated daemon's VMs.
  [[ $command != 'sim '* || ${ask[*]} == *' --s'* ]] || ask+=(--sim)
  if [[ -n $option ]]; then
    kind=$(_vmnuma_value_kind "$command" "$option")
  elif [[ $current == -* ]]; then
    mapfile -t words < <(_vmnuma_options "$command" | tr ' ' '\n')
  else
    mapfile -t words < <(_vmnuma_commands "$command" | tr ' ' '\n')
    read -r -a kinds < <(_vmnuma_arguments "$command")
    if [[ ${kinds[*]} == *' *' ]] && ((arguments > ${#kinds[@]} - 2)); then
      arguments=${#kinds[@]}-2
    fi
    kind=${kinds[arguments]-}
  fi
  case $kind in
    '') ;;
    file)
      compopt -o filenames 2>/dev/null
      mapfile -t words < <(compgen -f -- "$current")
      ;;
    *) mapfile -t words < <(_vmnuma_values "$kind" "${ask[@]}") ;;
  esac

  COMPREPLY=()
  for word in "${words[@]}"; do
    [[ $word != "$current"* ]] || COMPREPLY+=("$([[ $kind == file ]] && echo "$word" || printf '%q' "$word")")
  done
  # The value follows at once.
  [[ ${COMPREPLY[*]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}

complete -F _vmnuma vmnuma
