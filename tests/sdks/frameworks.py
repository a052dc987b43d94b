"""The agent of agent.py on frameworks. `frameworks.py NAME` asks two questions by each wire, streaming and not.
`frameworks.py NAME WIRE stream` or `… whole` asks the first question by one wire.

Each framework finds the address by itself. AGENT_PATIENCE and AGENT_RETRIES say how long it reads, and how often it asks again.
"""

import asyncio
import importlib
import os
import sys

for name, value in {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_API_KEY": "test-key-of-openai",
    "ANTHROPIC_API_KEY": "test-key-of-anthropic",
    "GEMINI_API_KEY": "test-key-of-gemini",
}.items():
    os.environ.setdefault(name, value)

QUESTIONS = ["How is the weather in Oslo and Rome?", "And tomorrow?"]
PATIENCE = float(os.environ.get("AGENT_PATIENCE", "600"))
RETRIES = int(os.environ.get("AGENT_RETRIES", "2"))
LIMITS = {"timeout": PATIENCE, "max_retries": RETRIES}


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The name of the city.
    """
    if "GOT" in os.environ:
        with open(os.environ["GOT"], "a", encoding="utf-8") as got:
            print(city, file=got)
    return f"sunny in {city}"


def langgraph(wire, streams):
    from langchain.agents import create_agent

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

        return ChatAnthropic(model="m-messages", api_key="test-key-of-anthropic", max_tokens=100, **LIMITS)
    if wire == "gemini":
        from langchain_google_genai import ChatGoogleGenerativeAI

        # It counts the first request, too.
        return ChatGoogleGenerativeAI(model="gemini-2.5-flash", timeout=PATIENCE, max_retries=1 + RETRIES)
    if wire == "ollama":
        from langchain_ollama import ChatOllama

        return ChatOllama(model="m-ollama", client_kwargs={"timeout": PATIENCE})
    from langchain_openai import ChatOpenAI

    key = "test-key-of-openai"
    return ChatOpenAI(model=f"m-{wire}", api_key=key, use_responses_api=wire == "responses", **LIMITS)


async def agents(wire, streams):
    from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client
    from openai import AsyncOpenAI

    set_default_openai_client(AsyncOpenAI(**LIMITS), use_for_tracing=False)
    set_default_openai_api("chat_completions" if wire == "chat" else "responses")
    tools = [function_tool(get_weather)]
    agent = Agent(name="a", instructions="Be brief.", model=f"m-{wire}", tools=tools)
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


async def pydantic_ai(wire, streams):
    from pydantic_ai import Agent

    agent = Agent(pydantic_model(wire), instructions="Be brief.", tools=[get_weather])
    handler = {"event_stream_handler": read_events} if streams else {}
    print((await agent.run(QUESTIONS[0], **handler)).output)


async def read_events(_, events):
    async for _ in events:
        pass


async def pydantic_ai_form(wire, streams):
    """Its answer is a call that it forces."""
    from pydantic import BaseModel
    from pydantic_ai import Agent

    class Weather(BaseModel):
        told: str

    agent = Agent(pydantic_model(wire), instructions="Be brief.", tools=[get_weather], output_type=Weather)
    handler = {"event_stream_handler": read_events} if streams else {}
    print((await agent.run(QUESTIONS[0], **handler)).output.told)


def pydantic_model(wire):
    if wire == "messages":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel("m-messages", provider=AnthropicProvider(anthropic_client=AsyncAnthropic(**LIMITS)))
    if wire == "gemini":
        from pydantic_ai.models.google import GoogleModel

        return GoogleModel("gemini-2.5-flash", settings=LIMITS)
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel if wire == "chat" else OpenAIResponsesModel
    return model(f"m-{wire}", provider=OpenAIProvider(openai_client=AsyncOpenAI(**LIMITS)))


def litellm(wire, streams):
    import json

    import litellm

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "The weather of a city.", "parameters": schema}
    if wire == "responses":
        asked = {"model": "openai/gpt-4.1", "tools": [{"type": "function", **function}], "stream": streams}
        items = [{"role": "user", "content": QUESTIONS[0]}]
        while True:
            said = litellm.responses(input=items, **asked, **LIMITS)
            if streams:
                said = [event for event in said if event.type == "response.completed"][-1].response
            items += [item if isinstance(item, dict) else item.model_dump(exclude_none=True) for item in said.output]
            calls = [item for item in items if item.get("type") == "function_call"]
            if said.output[-1].type == "message":
                return print(said.output[-1].content[0].text)
            for call in calls:
                output = get_weather(**json.loads(call["arguments"]))
                items.append({"type": "function_call_output", "call_id": call["call_id"], "output": output})
    names = {"chat": "openai/gpt-4.1", "messages": "anthropic/claude-sonnet-4-0"}
    names |= {"gemini": "gemini/gemini-2.5-flash", "ollama": "ollama_chat/m-ollama"}
    asked = {"model": names[wire], "tools": [{"type": "function", "function": function}], "stream": streams}
    messages = [{"role": "user", "content": QUESTIONS[0]}]
    while True:
        said = litellm.completion(messages=messages, **asked, **LIMITS)
        said = litellm.stream_chunk_builder(list(said), messages=messages) if streams else said
        message = said.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return print(message.content)
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


async def autogen(wire, streams):
    from autogen_agentchat.agents import AssistantAgent

    if wire == "messages":
        from autogen_ext.models.anthropic import AnthropicChatCompletionClient as Client
    else:
        from autogen_ext.models.openai import OpenAIChatCompletionClient as Client
    able = {"vision": False, "function_calling": True, "json_output": True, "structured_output": True}
    client = Client(model=f"m-{wire}", model_info={**able, "family": "unknown"}, **LIMITS)
    of = {"max_tool_iterations": 5, "model_client_stream": streams}
    agent = AssistantAgent("a", client, tools=[get_weather], system_message="Be brief.", **of)
    print((await agent.run(task=QUESTIONS[0])).messages[-1].content)


def haystack(wire, streams):
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function

    if wire == "messages":
        from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator as Generator
    elif wire == "chat":
        from haystack.components.generators.chat import OpenAIChatGenerator as Generator
    else:
        from haystack.components.generators.chat import OpenAIResponsesChatGenerator as Generator
    more = {"streaming_callback": lambda chunk: None} if streams else {}
    agent = Agent(chat_generator=Generator(model=f"m-{wire}", **LIMITS, **more), tools=[create_tool_from_function(get_weather)])
    print(agent.run(messages=[ChatMessage.from_user(QUESTIONS[0])])["last_message"].text)


def smolagents(wire, streams):
    from smolagents import LiteLLMModel, LogLevel, OpenAIModel, ToolCallingAgent, tool

    if wire == "messages":
        model = LiteLLMModel("anthropic/claude-sonnet-4-0", **LIMITS)
    else:
        model = OpenAIModel("m-chat", client_kwargs=LIMITS)
    agent = ToolCallingAgent([tool(get_weather)], model, stream_outputs=streams, verbosity_level=LogLevel.OFF)
    print(agent.run(QUESTIONS[0]))


async def dspy(wire, streams):
    import dspy

    model = "anthropic/claude-sonnet-4-0" if wire == "messages" else "openai/gpt-4.1"
    kind = {"model_type": "responses"} if wire == "responses" else {}
    dspy.configure(lm=dspy.LM(model, cache=False, num_retries=RETRIES, timeout=PATIENCE, **kind))
    agent = dspy.ReAct("question -> answer", tools=[get_weather])
    if not streams:
        return print(agent(question=QUESTIONS[0]).answer)
    listeners = [dspy.streaming.StreamListener(signature_field_name="answer")]
    async for said in dspy.streamify(agent, stream_listeners=listeners)(question=QUESTIONS[0]):
        if isinstance(said, dspy.Prediction):
            print(said.answer)


def google_genai(wire, streams):
    from google import genai
    from google.genai import types

    retries = types.HttpRetryOptions(attempts=1 + RETRIES)
    client = genai.Client(http_options=types.HttpOptions(timeout=int(1000 * PATIENCE), retry_options=retries))
    asked = {"model": "gemini-2.5-flash", "contents": QUESTIONS[0]}
    asked["config"] = types.GenerateContentConfig(tools=[get_weather])
    if streams:
        return print("".join(it.text or "" for it in client.models.generate_content_stream(**asked)))
    print(client.models.generate_content(**asked).text)


async def google_adk(wire, streams):
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode
    from google.adk.runners import InMemoryRunner

    # The client of Gemini has no limit but that of a whole answer, so it gets none.
    model = "gemini-2.5-flash"
    if wire != "gemini":
        of = importlib.import_module("google.adk.integrations.openai")
        model = (of.OpenAILlm if wire == "chat" else of.OpenAIResponsesLlm)(model="gpt-4.1")
    agent = LlmAgent(name="a", model=model, instruction="Be brief.", tools=[get_weather])
    runner = InMemoryRunner(agent)
    config = RunConfig(streaming_mode=StreamingMode.SSE if streams else StreamingMode.NONE)
    said = await runner.run_debug(QUESTIONS[0], quiet=True, run_config=config)
    print("".join(part.text or "" for part in said[-1].content.parts))


def ollama(wire, streams):
    import ollama

    client = ollama.Client(timeout=PATIENCE)
    messages = [{"role": "user", "content": QUESTIONS[0]}]
    while True:
        said = client.chat(model="m-ollama", messages=messages, tools=[get_weather], stream=streams)
        parts = [part.message for part in said] if streams else [said.message]
        text = "".join(part.content or "" for part in parts)
        calls = [call for part in parts for call in part.tool_calls or []]
        messages.append(ollama.Message(role="assistant", content=text, tool_calls=calls or None))
        if not calls:
            return print(text)
        for call in calls:
            result = get_weather(**call.function.arguments)
            messages.append({"role": "tool", "tool_name": call.function.name, "content": result})


def strands(wire, streams):
    from strands import Agent, tool

    if wire == "messages":
        from strands.models.anthropic import AnthropicModel

        model = AnthropicModel(client_args=LIMITS, model_id="m-messages", max_tokens=100)
    elif wire == "chat":
        from strands.models.openai import OpenAIModel

        model = OpenAIModel(client_args=LIMITS, model_id="m-chat", stream=streams)
    else:
        from strands.models.openai_responses import OpenAIResponsesModel

        model = OpenAIResponsesModel(client_args=LIMITS, model_id="m-responses")
    agent = Agent(model=model, tools=[tool(get_weather)], system_prompt="Be brief.", callback_handler=None)
    print(str(agent(QUESTIONS[0])).strip())


async def llama_index(wire, streams):
    from llama_index.core.agent.workflow import FunctionAgent

    if wire == "messages":
        from llama_index.llms.anthropic import Anthropic

        model = Anthropic(model="claude-sonnet-4-0", **LIMITS)
    else:
        from llama_index.llms.openai import OpenAI, OpenAIResponses

        model = (OpenAI if wire == "chat" else OpenAIResponses)(model="gpt-4.1", **LIMITS)
    agent = FunctionAgent(tools=[get_weather], llm=model, system_prompt="Be brief.", streaming=streams)
    print(str(await agent.run(QUESTIONS[0])))


def instructor(wire, streams):
    """Its answer is a call that it forces."""
    import instructor
    from pydantic import BaseModel

    class get_weather(BaseModel):
        """The weather of a city."""

        city: str

    if wire == "messages":
        from anthropic import Anthropic

        client, more = instructor.from_anthropic(Anthropic(**LIMITS)), {"max_tokens": 100}
    else:
        from openai import OpenAI

        mode = instructor.Mode.TOOLS if wire == "chat" else instructor.Mode.RESPONSES_TOOLS
        client, more = instructor.from_openai(OpenAI(**LIMITS), mode=mode), {}
    asked = {"model": f"m-{wire}", "messages": [{"role": "user", "content": QUESTIONS[0]}], **more}
    if streams:
        said = list(client.create_partial(response_model=get_weather, **asked))[-1]
    else:
        said = client.create(response_model=get_weather, **asked)
    print(f"The city is {said.city}.")


async def ag2(wire, streams):
    from ag2 import Agent
    from ag2.config import AnthropicConfig, OpenAIConfig, OpenAIResponsesConfig

    of = {"chat": OpenAIConfig, "responses": OpenAIResponsesConfig, "messages": AnthropicConfig}[wire]
    config = of(model=f"m-{wire}", streaming=streams, **LIMITS)
    agent = Agent("a", prompt="Be brief.", config=config, tools=[get_weather])
    print((await agent.ask(QUESTIONS[0])).body)


def crewai(wire, streams):
    from crewai import LLM, Agent
    from crewai.tools import tool

    more = {"api": "responses"} if wire == "responses" else {}
    name = "anthropic/claude-sonnet-4-0" if wire == "messages" else "openai/gpt-4.1"
    model = LLM(model=name, stream=streams, **LIMITS, **more)
    agent = Agent(role="a", goal="Be brief.", backstory="None.", llm=model, tools=[tool(get_weather)])
    print(agent.kickoff(QUESTIONS[0]).raw)


def run(name, wire, streams):
    done = globals()[name](wire, streams)
    if asyncio.iscoroutine(done):
        asyncio.run(done)


if len(sys.argv) > 2:
    QUESTIONS = QUESTIONS[:1]
    run(sys.argv[1], sys.argv[2], sys.argv[3] == "stream")
else:
    wires = ["chat", "responses"] if sys.argv[1] == "agents" else ["chat", "responses", "messages"]
    for wire in wires:
        for streams in (False, True):
            run(sys.argv[1], wire, streams)
