"""Asks an endpoint once with an official SDK, and prints what the SDK read: `read.py FORMAT ADDRESS MODE`.

FORMAT is chat, responses or messages; MODE is stream, whole or long. The output is one JSON object: text, calls, finish,
and error where the SDK raised one. A long request has tools, an image, calls and their results.
"""

import json
import sys

FORMAT, ADDRESS, MODE = sys.argv[1:]
STREAMS = MODE != "whole"
IMAGE = "iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = {"city": "Oslo"}


def chat():
    import openai

    client = openai.OpenAI(base_url=ADDRESS, api_key="test", max_retries=0)
    messages = [{"role": "user", "content": "Hello"}]
    if MODE == "long":
        call = {"id": "call_1", "type": "function"}
        call["function"] = {"name": "weather", "arguments": json.dumps(CALL)}
        url = {"url": f"data:image/png;base64,{IMAGE}"}
        parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": url}]
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "I look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        ]
    function = {"name": "weather", "description": "The weather.", "parameters": SCHEMA}
    tools = [{"type": "function", "function": function}]
    asked = {"model": "m", "messages": messages, "tools": tools}
    if not STREAMS:
        choice = client.chat.completions.create(**asked).choices[0]
        return of_message(choice.message, choice.finish_reason)
    with client.chat.completions.stream(**asked) as stream:
        stream.until_done()
        choice = stream.get_final_completion().choices[0]
    return of_message(choice.message, choice.finish_reason)


def of_message(message, finish):
    calls = message.tool_calls or []
    calls = [[call.id, call.function.name, json.loads(call.function.arguments)] for call in calls]
    return {"text": message.content or message.refusal or "", "calls": calls, "finish": finish}


def responses():
    import openai

    client = openai.OpenAI(base_url=ADDRESS, api_key="test", max_retries=0)
    items = [{"role": "user", "content": "Hello"}]
    if MODE == "long":
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "auto"}
        call = {"type": "function_call", "call_id": "call_1", "name": "weather"}
        items = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, image]},
            {"role": "assistant", "content": "I look."},
            {**call, "arguments": json.dumps(CALL)},
            {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        ]
    tool = {"type": "function", "name": "weather", "description": "The weather."}
    tools = [{**tool, "parameters": SCHEMA, "strict": False}]
    asked = {"model": "m", "input": items, "tools": tools}
    if not STREAMS:
        response = client.responses.create(**asked)
    else:
        # The SDK's own way to the final response knows no incomplete one.
        ends = ("response.completed", "response.incomplete")
        with client.responses.stream(**asked) as stream:
            response = [event.response for event in stream if event.type in ends][-1]
    calls, said = [], response.output_text
    for item in response.output:
        if item.type == "function_call":
            calls.append([item.call_id, item.name, json.loads(item.arguments)])
        if item.type == "message":
            said = said or "".join(part.refusal for part in item.content if part.type == "refusal")
    reason = response.incomplete_details and response.incomplete_details.reason
    return {"text": said, "calls": calls, "finish": reason or response.status}


def messages():
    import anthropic

    client = anthropic.Anthropic(base_url=ADDRESS.removesuffix("/v1"), api_key="test", max_retries=0)
    sent = [{"role": "user", "content": "Hello"}]
    if MODE == "long":
        source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        call = {"type": "tool_use", "id": "call_1", "name": "weather", "input": CALL}
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": "rain"}
        question = {"type": "text", "text": "What is it?"}
        sent = [
            {"role": "user", "content": [question, {"type": "image", "source": source}]},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [result]},
        ]
    tools = [{"name": "weather", "description": "The weather.", "input_schema": SCHEMA}]
    asked = {"model": "m", "max_tokens": 100, "messages": sent, "tools": tools}
    if MODE == "long":
        asked["system"] = "Be brief."
    if not STREAMS:
        message = client.messages.create(**asked)
    else:
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [[it.id, it.name, it.input] for it in message.content if it.type == "tool_use"]
    return {"text": text, "calls": calls, "finish": message.stop_reason}


try:
    print(json.dumps(globals()[FORMAT]()))
except Exception as error:  # What an SDK raises is what is tried here.
    print(json.dumps({"error": type(error).__name__, "said": str(error)}))
