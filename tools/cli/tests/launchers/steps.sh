#!/bin/bash
# Runs COMMAND, a job of two PEs that says which process each PE is and goes on until its input
# ends. Then does STEPS with the process of PE 1, and ends the input. A step is a signal, or a
# number of seconds to wait. Exits with the status of COMMAND.
#
#     steps.sh "STOP 5 CONT" COMMAND...
#
# Runs under hosts.sh, where all hosts have the same process numbers.
set -u
steps=$1
shift
folder=$(mktemp -d /run/steps.XXXXXX)
mkfifo "$folder/in"
"$@" <"$folder/in" >"$folder/out" &
job=$!
exec 3>"$folder/in"
until [[ $(grep -c ' is process ' "$folder/out") == 2 ]]; do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.05
done
process=$(sed -n 's/^PE 1 is process //p' "$folder/out")
for step in $steps; do
    case $step in
    [0-9]*) sleep "$step" ;;
    *) kill -s "$step" "$process" ;;
    esac
done
exec 3>&-
wait "$job"
status=$?
cat "$folder/out"
exit "$status"
