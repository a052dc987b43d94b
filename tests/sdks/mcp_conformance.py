"""A server with the tools that the conformance tests call, on the official SDK, over HTTP at the port in its argument."""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    AudioContent, BlobResourceContents, EmbeddedResource, ImageContent, SamplingMessage, TextContent,
    TextResourceContents,
)
from pydantic import BaseModel

server = MCPServer("conformance")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")
TEXT = "This is a simple text response for testing."


def embedded(uri):
    return EmbeddedResource(type="resource", resource=TextResourceContents(
        uri=uri, mime_type="text/plain", text="This is an embedded resource content."))


class User(BaseModel):
    username: str
    email: str


@server.tool(structured_output=False)
def test_simple_text():
    return TEXT


@server.tool(structured_output=False)
def test_image_content():
    return IMAGE


@server.tool(structured_output=False)
def test_audio_content():
    return AudioContent(type="audio", data="UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=", mime_type="audio/wav")


@server.tool(structured_output=False)
def test_embedded_resource():
    return embedded("test://embedded-resource")


@server.tool(structured_output=False)
def test_multiple_content_types():
    return [TextContent(type="text", text="Multiple content types test:"), IMAGE, embedded("test://mixed-content-resource")]


@server.tool(structured_output=False)
async def test_tool_with_logging(context: Context):
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        await context.info(text)
    return "done"


@server.tool(structured_output=False)
def test_error_handling():
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool(structured_output=False)
async def test_tool_with_progress(context: Context):
    for progress in (0, 50, 100):
        await context.report_progress(progress, 100)
    return "done"


@server.tool(structured_output=False)
async def test_sampling(prompt: str, context: Context):
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    said = await context.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {said.content.text}"


@server.tool(structured_output=False)
async def test_elicitation(message: str, context: Context):
    said = await context.elicit(message, User)
    return f"User response: {said.action}"


server.run(transport="streamable-http", port=int(sys.argv[1]))
