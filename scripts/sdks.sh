#!/usr/bin/env bash
# Installs the official SDKs, which the slow tests ask, and the grader llmock into target/sdks. What is there already stays. Where a registry
# or a language is not there it says SKIPPED, and the tests say it again.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=target/sdks
mkdir -p "$folder"

if [ ! -e "$folder/python/done" ]; then
    { python3 -m venv "$folder/python" &&
        "$folder/python/bin/pip" install --quiet --disable-pip-version-check openai==2.8.1 anthropic==0.75.0 \
            llmock==0.2.2 &&
        touch "$folder/python/done"; } || echo "SKIPPED: the SDKs of Python could not be installed"
fi
if [ ! -e "$folder/node/done" ]; then
    { mkdir -p "$folder/node" && cp tests/sdks/read.mjs "$folder/node" &&
        npm install --silent --no-audit --no-fund --prefix "$folder/node" openai@6.9.1 @anthropic-ai/sdk@0.71.0 &&
        touch "$folder/node/done"; } || echo "SKIPPED: the SDKs of Node could not be installed"
fi
