"""An MCP server on the official SDK: over standard input and output, or over HTTP at the port in its only argument."""

import sys

from mcp.server.mcpserver import MCPServer

shop = MCPServer("shop")


@shop.tool()
def in_stock(article: str) -> str:
    """Says how many pieces of an article are in stock."""
    return f"3 {article} in stock"


if len(sys.argv) > 1:
    shop.run(transport="streamable-http", port=int(sys.argv[1]))
else:
    shop.run()
