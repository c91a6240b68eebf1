#!/bin/sh
# The command line from a script: a scripted model API, one run against it, and the proof that the log tells all of it.
set -eu
dsh="node $(cd "$(dirname "$0")/.." && pwd)/apps/cli/bin/dsh.cjs"
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

printf '%s\n' '{ "text": "4" }' > "$work/replies.jsonl"
$dsh mock-llm --port 0 --scenario "$work/replies.jsonl" > "$work/url" &
server=$!
until [ -s "$work/url" ]; do kill -0 "$server"; done

export DSH_HOME="$work/home" DEEPSEEK_API_KEY=none DEEPSEEK_BASE_URL="$(cat "$work/url")"
cd "$work"
$dsh run "What is 2 + 2?"
$dsh session verify "$($dsh session list | cut -d ' ' -f 1)"
