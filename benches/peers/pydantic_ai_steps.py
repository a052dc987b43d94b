"""pydantic-ai: an Agent with a model and a tool that take no time."""

from common import STEPS, fastest, tell
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits

asked = 0


def answer(_messages, _info):
    global asked
    asked += 1
    if asked % STEPS == 0:
        return ModelResponse(parts=[TextPart("42")])
    return ModelResponse(parts=[ToolCallPart("look_up", {"query": "bench"})])


agent = Agent(FunctionModel(answer))


@agent.tool_plain
def look_up(query: str) -> str:
    """Looks things up."""
    return "something"


def run():
    agent.run_sync("Find out.", usage_limits=UsageLimits(request_limit=STEPS + 1))


tell("pydantic-ai-slim", memory=fastest(run, STEPS))
