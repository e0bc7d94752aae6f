# SPDX-License-Identifier: Apache-2.0
# Completion of vmnuma(1) for fish. What it offers is made from the program's own table.

# All commands, as "options set", and the options that have a value.
@paths@
@with-values@

function __vmnuma_at # whether the line is at the command $argv[1], with $argv[2] arguments, or-more
    set -l path ''
    set -l arguments 0
    set -l is_value 0
    for word in (commandline -opc)[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word $__vmnuma_with_values
            set is_value 1
        else if string match -q -- '-*' $word
            continue
        else if contains -- (string trim -- "$path $word") $__vmnuma_paths
            set path (string trim -- "$path $word")
        else
            set arguments (math $arguments + 1)
        end
    end
    test "$path" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; and return 0
    test $arguments = $argv[2]; or test "$argv[3]" = or-more -a $arguments -gt $argv[2]
end

function __vmnuma_values # values of the kind $argv[1], from the daemon of the line or the program
    set -l words (commandline -opc)
    set -l ask $words[1]
    if set -l at (contains -i -- --socket $words)
        set -a ask --socket $words[(math $at + 1)]
    else if contains -- --sim $words; or contains -- sim $words # these are the simulated daemon's VMs
        set -a ask --sim
    end
    set -l end (string match -r '=?$' -- $argv[1])
    switch (string trim -r -c = -- $argv[1])
        case vm
            $ask list -o name 2>/dev/null
        case node
            $ask stats -t numa-pnode -o name 2>/dev/null
        case option
            $ask options list -o name 2>/dev/null
        case reservation
            $ask reservations -o name 2>/dev/null
        case scenario
            $ask sim list -o name 2>/dev/null
    end | string replace -r '$' "$end"
end

complete -c vmnuma -f
@complete@
