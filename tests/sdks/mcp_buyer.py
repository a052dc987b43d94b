"""A client on the official SDK, which checks results by their schemas: `mcp_buyer.py ADDRESS` or `mcp_buyer.py COMMAND...`."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def main():
    if sys.argv[1].startswith("http"):
        opened = streamable_http_client(sys.argv[1])
    else:
        opened = stdio_client(StdioServerParameters(command=sys.argv[1], args=sys.argv[2:]))
    async with opened as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        print(*(tool.name for tool in tools.tools))
        result = await session.call_tool("in_stock", {"article": "lamp"})
        print(result.content[0].text, result.structured_content)


asyncio.run(main())
