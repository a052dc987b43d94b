#!/usr/bin/env bash
# Installs the official SDKs, which the slow tests ask, the grader llmock, SDKs and frameworks of agents that are watched, and MCP
# servers into target/sdks.
# What is there already stays. Where a registry or a language is not there it says SKIPPED, and the tests say it again.
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
if [ ! -e "$folder/agents/done" ]; then
    { python3 -m venv "$folder/agents" &&
        "$folder/agents/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0 anthropic==2.14.0 \
            langchain==1.5.2 langchain-openai==1.7.4 langchain-anthropic==1.7.10 langgraph==1.2.24 openai-agents==0.24.0 &&
        touch "$folder/agents/done"; } || echo "SKIPPED: the frameworks of Python could not be installed"
fi
if [ ! -e "$folder/agents-node/done" ]; then
    { mkdir -p "$folder/agents-node" && cp tests/sdks/*.mjs "$folder/agents-node" &&
        npm install --silent --no-audit --no-fund --prefix "$folder/agents-node" openai@6.49.0 @anthropic-ai/sdk@1.14.0 \
            ai@6.0.326 @ai-sdk/openai@3.0.141 @ai-sdk/anthropic@3.0.140 zod@4.6.7 &&
        touch "$folder/agents-node/done"; } || echo "SKIPPED: the frameworks of Node could not be installed"
fi
if [ ! -e "$folder/mcp-node/done" ]; then
    { mkdir -p "$folder/mcp-node" &&
        npm install --silent --no-audit --no-fund --prefix "$folder/mcp-node" \
            @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 \
            @modelcontextprotocol/server-memory@2026.8.31 &&
        touch "$folder/mcp-node/done"; } || echo "SKIPPED: the MCP servers of Node could not be installed"
fi
if [ ! -e "$folder/mcp-python/done" ]; then
    { python3 -m venv "$folder/mcp-python" &&
        "$folder/mcp-python/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0 \
            mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 mcp-server-fetch==2026.10.24 &&
        touch "$folder/mcp-python/done"; } || echo "SKIPPED: the MCP servers of Python could not be installed"
fi
if [ ! -e "$folder/conformance/done" ]; then
    { mkdir -p "$folder/conformance" &&
        npm install --silent --no-audit --no-fund --prefix "$folder/conformance" node@22.23.3 \
            @modelcontextprotocol/conformance@0.1.16 &&
        touch "$folder/conformance/done"; } || echo "SKIPPED: the conformance tests of MCP could not be installed"
fi
