"""Two servers made with fastmcp: `shop` declares the form of its results, `slow` reports progress and asks its client."""

import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP

server = FastMCP(sys.argv[1])


@dataclass
class Stock:
    article: str
    count: int


if sys.argv[1] == "shop":

    @server.tool
    def in_stock(article: str) -> Stock:
        """How many of an article are there."""
        return Stock(article, 3)

else:

    @server.tool
    async def count(to: int, context: Context) -> str:
        """Counts up to a number."""
        for n in range(to):
            await context.report_progress(n, to)
            await context.info(f"at {n}")
        return f"counted to {to}"


server.run(show_banner=False)
