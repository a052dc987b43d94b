#!/bin/sh
# Draws the screen at four sizes, dark and light, into docs/screens or the given folder: a demo with a broken tool, and a
# watched agent, whose ink it prints, and a held call of another one. Run it from the root of the project, after `cargo build`.
set -eu

toolyard=${TOOLYARD:-target/debug/toolyard}
out=${1:-docs/screens}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

"$toolyard" run --strategy workers+toolnet+btp --fault search_web:error:from-task=8 --tasks-limit 12 \
    --journal "$work/demo.jsonl.zst" --fresh --knob speed=4 >"$work/said"
# The first task from the tenth on that makes two calls, when the second one has begun.
at=$("$toolyard" journal cat "$work/demo.jsonl.zst" | awk '
    /"kind":"TaskStarted"/ { tasks++; calls = 0 }
    tasks >= 10 && /"kind":"ToolCallStarted"/ && ++calls == 2 { sub(/^\{"n":/, ""); print $0 + 0; exit }
')

for size in 80x24 120x40 200x60 320x90; do
    for theme in dark light; do
        "$toolyard" shot "$work/demo.jsonl.zst" --at "$at" --size $size --theme $theme \
            --out "$out/demo-$size-$theme.svg"
        "$toolyard" shot tests/data/journals/watched.jsonl --size $size --theme $theme --ink \
            --out "$out/watched-$size-$theme.svg"
        case $size in 80x24 | 120x40)
            "$toolyard" shot tests/data/journals/held.jsonl --size $size --theme $theme --out "$out/held-$size-$theme.svg" ;;
        esac
    done
done
chmod 644 "$out"/*.svg
