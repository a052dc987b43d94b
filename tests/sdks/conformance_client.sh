#!/bin/sh
# toolyard as the client of a scenario of @modelcontextprotocol/conformance. Usage: conformance_client.sh PROGRAM URL
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
config="$folder/config.toml"
printf '[tools.mcp.s]\ntype = "http"\nurl = "%s"\nelicitation = "defaults"\n' "$2" > "$config"
tools() { "$program" tools "$@" --config "$config"; }
program=$1
case $MCP_CONFORMANCE_SCENARIO in
    tools_call) tools call s__add_numbers a=5 b=3 ;;
    sse-retry) tools call s__test_reconnection ;;
    elicitation-*) tools call s__test_client_elicitation_defaults ;;
    *) tools list ;;
esac
