"""The agent of agent.py on a framework: `frameworks.py langgraph`, or `frameworks.py agents` for the OpenAI Agents SDK."""

import asyncio
import os
import sys

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
os.environ["LANGSMITH_TRACING"] = "false"


def weather(city):
    if "GOT" in os.environ:
        with open(os.environ["GOT"], "a", encoding="utf-8") as got:
            print(city, file=got)
    return f"sunny in {city}"


QUESTIONS = ["How is the weather in Oslo and Rome?", "And tomorrow?"]


def langgraph(wire, streams):
    from langchain.agents import create_agent

    def get_weather(city: str) -> str:
        """The weather of a city."""
        return weather(city)

    agent = create_agent(langchain_model(wire), [get_weather], system_prompt="Be brief.")
    messages = []
    for question in QUESTIONS:
        messages.append({"role": "user", "content": question})
        if streams:
            for kind, state in agent.stream({"messages": messages}, stream_mode=["messages", "values"]):
                if kind == "values":
                    messages = state["messages"]
        else:
            messages = agent.invoke({"messages": messages})["messages"]
        print(messages[-1].text)


def langchain_model(wire):
    if wire == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(model="m-messages", api_key="test-key-of-anthropic", max_tokens=100)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model=f"m-{wire}", api_key="test-key-of-openai", use_responses_api=wire == "responses")


async def agents(wire, streams):
    from agents import Agent, Runner, function_tool, set_default_openai_api

    @function_tool
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return weather(city)

    os.environ["OPENAI_API_KEY"] = "test-key-of-openai"
    set_default_openai_api("chat_completions" if wire == "chat" else "responses")
    agent = Agent(name="a", instructions="Be brief.", model=f"m-{wire}", tools=[get_weather])
    items = []
    for question in QUESTIONS:
        items.append({"role": "user", "content": question})
        if streams:
            result = Runner.run_streamed(agent, items)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, items)
        items = result.to_input_list()
        print(result.final_output)


async def main():
    if sys.argv[1] == "agents":
        for wire in ("chat", "responses"):
            for streams in (False, True):
                await agents(wire, streams)
        return
    for wire in ("chat", "responses", "messages"):
        for streams in (False, True):
            langgraph(wire, streams)


asyncio.run(main())
