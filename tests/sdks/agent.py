"""An agent on the official SDKs, which asks two questions in each of six conversations: by each format, streaming and not.

`agent.py WIRE stream` or `agent.py WIRE whole` asks the first question by one wire. The address is the SDK's own: OPENAI_BASE_URL or ANTHROPIC_BASE_URL. Each answer is printed on a line.
It waits for AGENT_PATIENCE seconds, and asks AGENT_RETRIES times more. The cities that its tool gets go into the file in GOT. The tool call with the number in OTHER_RESULT, from 1, returns something else than usual.
"""

import itertools
import json
import os
import sys

QUESTIONS = ["How is the weather in Oslo and Rome?", "And tomorrow? \u00e9\u2028\U0001f31e"]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
LIMITS = {
    "timeout": float(os.environ.get("AGENT_PATIENCE", "600")),
    "max_retries": int(os.environ.get("AGENT_RETRIES", "2")),
}
NAME, TEXT = "get_weather", "The weather of a city."


NUMBERS = itertools.count(1)


def get_weather(city):
    if "GOT" in os.environ:
        with open(os.environ["GOT"], "a", encoding="utf-8") as got:
            print(city, file=got)
    is_other = str(next(NUMBERS)) == os.environ.get("OTHER_RESULT")
    return f"{'rainy' if is_other else 'sunny'} in {city}"


def chat(streams):
    import openai

    client = openai.OpenAI(api_key="test-key-of-openai", **LIMITS)
    function = {"name": NAME, "description": TEXT, "parameters": SCHEMA}
    asked = {"model": "m-chat", "tools": [{"type": "function", "function": function}]}
    messages = [{"role": "system", "content": "Be brief."}]
    for question in QUESTIONS:
        messages.append({"role": "user", "content": question})
        while True:
            message = chat_message(client, streams, {**asked, "messages": messages})
            messages.append(message)
            if not message.get("tool_calls"):
                print(message["content"])
                break
            for call in message["tool_calls"]:
                result = get_weather(**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def chat_message(client, streams, asked):
    if not streams:
        message = client.chat.completions.create(**asked).choices[0].message
        return message.model_dump(exclude_none=True)
    text, calls = "", {}
    for chunk in client.chat.completions.create(**asked, stream=True):
        # The first look at it fails where a chunk has no choice, which code in the wild relies on.
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for piece in delta.tool_calls or []:
            function = {"name": piece.function.name, "arguments": ""}
            call = calls.setdefault(piece.index, {"id": piece.id, "type": "function", "function": function})
            call["function"]["arguments"] += piece.function.arguments or ""
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls.values())} if calls else {})}


def responses(streams):
    import openai

    client = openai.OpenAI(api_key="test-key-of-openai", **LIMITS)
    tool = {"type": "function", "name": NAME, "description": TEXT, "parameters": SCHEMA, "strict": False}
    asked = {"model": "m-responses", "tools": [tool], "instructions": "Be brief."}
    items = []
    for question in QUESTIONS:
        items.append({"role": "user", "content": question})
        while True:
            if streams:
                with client.responses.stream(**asked, input=items) as stream:
                    response = stream.get_final_response()
            else:
                response = client.responses.create(**asked, input=items)
            items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                print(response.output_text)
                break
            for call in calls:
                result = get_weather(**json.loads(call.arguments))
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})


def messages(streams):
    import anthropic

    client = anthropic.Anthropic(api_key="test-key-of-anthropic", **LIMITS)
    tools = [{"name": NAME, "description": TEXT, "input_schema": SCHEMA}]
    asked = {"model": "m-messages", "max_tokens": 100, "system": "Be brief.", "tools": tools}
    sent = []
    for question in QUESTIONS:
        sent.append({"role": "user", "content": question})
        while True:
            if streams:
                with client.messages.stream(**asked, messages=sent) as stream:
                    message = stream.get_final_message()
            else:
                message = client.messages.create(**asked, messages=sent)
            sent.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                print("".join(block.text for block in message.content))
                break
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": get_weather(**call.input)}
                for call in calls
            ]
            sent.append({"role": "user", "content": results})


if len(sys.argv) > 1:
    QUESTIONS = QUESTIONS[:1]
    globals()[sys.argv[1]](sys.argv[2] == "stream")
else:
    for wire in (chat, responses, messages):
        for streams in (False, True):
            wire(streams)
