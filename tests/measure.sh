#!/usr/bin/env bash
# Prints what a person feels and no test should time: how long the first frame takes from the start of
# the program, of the demo and of 16,000 tools; what an idle screen costs, and how much memory it holds;
# what the first model call costs; and how well two sessions at once use two processors. Linux, with
# util-linux's `script`. `measure_keys.py` prints how long a key takes to the screen.
#
#   cargo build --release && tests/measure.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-target/release/toolyard}")
[ -x "$program" ] || { echo "$program is not there; cargo build --release first" >&2; exit 2; }
command -v script >/dev/null || { echo "this needs script (util-linux)" >&2; exit 2; }

folder=$(mktemp -d)
seen=$folder/screen
job=
pid=
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
end() {
    kill ${pid:+"$pid"} ${job:+"$job"} 2>/dev/null || true
    pkill -P $$ sleep 2>/dev/null || true
    pid= job=
}
trap 'end; rm -rf "$folder"' EXIT
export TERM=xterm-256color HOME=$folder XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder

# Opens the screen and waits for its first frame: first_frame NAME [OPTION…].
first_frame() {
    local name=$1 start
    shift
    rm -f "$seen"
    start=$(date +%s%N)
    # The keys come from a pipe that stays open and empty: nobody types.
    sleep 60 | script -qfc "stty cols 200 rows 60; exec $program --no-journal $*" "$seen" >/dev/null 2>&1 &
    job=$!
    for _ in $(seq 5000); do
        grep -qa SIMULATED "$seen" 2>/dev/null && break
        sleep 0.001
    done
    grep -qa SIMULATED "$seen" || { echo "no frame came within 5 s" >&2; exit 1; }
    echo "first frame, $name: at most $((($(date +%s%N) - start) / 1000000)) ms (with the start of script and stty)"
    pid=$(pgrep -n -f "^$program --no-journal")
}

# Seconds that a command takes and of processor time: time_of COMMAND….
time_of() {
    local TIMEFORMAT='%R %U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%.2f s, %.2f s of processor time", $1, $2 + $3 }'
}

first_frame demo
sleep 2
before=$(ticks "$pid")
sleep 10
echo "idle: $(($(ticks "$pid") - before)) ticks of $(getconf CLK_TCK) a second, in 10 s"
echo "memory: $(awk '/VmRSS/ { print $2, $3 }' "/proc/$pid/status")"
end

mkdir -p "$folder/many/tools"
awk -v folder="$folder/many/tools" 'BEGIN {
    srand(1)
    for (n = 0; n < 16000; n++) {
        text = ""
        for (w = 0; w < 20; w++) text = text " word" int(rand() ^ 3 * 4000)
        file = sprintf("%s/tool_%05d.toml", folder, n)
        printf "name = \"tool_%05d\"\ndescription = \"Finds%s.\"\ncost = 1\neffect = \"read\"\n\n", n, text > file
        print "[parameters]\nrequired = [\"query\"]\nproperties.query.type = \"string\"\n" > file
        print "[source]\nbuiltin = \"nothing_found\"" > file
        close(file)
    }
}'
echo "word1 word77 word900 word2345" >"$folder/many/tasks.txt"
first_frame "16,000 tools" --workspace "$folder/many"
end

echo "a session of one task with one model call: $(time_of "$program" run --no-journal --fresh --strategy direct --tasks-limit 1)"
echo "a session of 200 tasks, in memory: $(time_of "$program" run --no-journal --fresh --tasks-limit 200)"
echo "a session of 200 tasks, on disk: $(time_of "$program" run --journal "$folder/run.jsonl" --fresh --tasks-limit 200)"
for jobs in 1 2; do
    echo "8 sessions of 100 tasks, $jobs at once: $(time_of "$program" compare --strategies react --warm-up none --seeds 0..7 --tasks-limit 100 --jobs "$jobs")"
done
