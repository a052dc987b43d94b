#!/usr/bin/env bash
# Prints what a person feels and no test should time: how long the first frame takes from the start of
# the program, what an idle screen costs, and how much memory it holds. Linux, with util-linux's `script`.
#
#   cargo build --release && tests/measure.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/release/toolyard}
[ -x "$program" ] || { echo "$program is not there; cargo build --release first" >&2; exit 2; }
command -v script >/dev/null || { echo "this needs script (util-linux)" >&2; exit 2; }

folder=$(mktemp -d)
seen=$folder/screen
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

export TERM=xterm-256color HOME=$folder XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder
start=$(date +%s%N)
# The keys come from a pipe that stays open and empty: nobody types.
sleep 60 | script -qfc "stty cols 200 rows 60; exec $program --no-journal" "$seen" >/dev/null &
job=$!
pid=
trap 'kill ${pid:+"$pid"} "$job" 2>/dev/null || true; pkill -P $$ sleep 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 5000); do
    grep -qa SIMULATED "$seen" 2>/dev/null && break
    sleep 0.001
done
grep -qa SIMULATED "$seen" || { echo "no frame came within 5 s" >&2; exit 1; }
echo "first frame: at most $((($(date +%s%N) - start) / 1000000)) ms (with the start of script and stty)"

pid=$(pgrep -n -f "^$program --no-journal")
sleep 2
before=$(ticks "$pid")
sleep 10
echo "idle: $(($(ticks "$pid") - before)) ticks of $(getconf CLK_TCK) a second, in 10 s"
echo "memory: $(awk '/VmRSS/ { print $2, $3 }' "/proc/$pid/status")"
