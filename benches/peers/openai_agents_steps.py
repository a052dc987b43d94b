"""openai-agents: a Runner with a model and a tool that take no time, without tracing."""

import asyncio

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from common import STEPS, fastest, tell
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

set_tracing_disabled(True)


class Instant(Model):
    asked = 0

    async def get_response(self, *_, **__):
        self.asked += 1
        if self.asked % STEPS == 0:
            text = ResponseOutputText(type="output_text", text="42", annotations=[])
            item = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
        else:
            item = ResponseFunctionToolCall(
                type="function_call", call_id=f"c{self.asked}", name="look_up", arguments='{"query": "bench"}'
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


@function_tool
def look_up(query: str) -> str:
    """Looks things up."""
    return "something"


agent = Agent(name="bench", model=Instant(), tools=[look_up])


def run():
    asyncio.run(Runner.run(agent, "Find out.", max_turns=STEPS + 1))


tell("openai-agents", memory=fastest(run, STEPS))
