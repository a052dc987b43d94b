"""An agent without a framework that asks about the weather of four cities, one after another, in one conversation.

Its first argument is a name, which makes its prompt another one from the beginning on.
"""

import json
import os
import sys
import urllib.request

CITIES = ["Oslo", "Rome", "Porto", "Lisbon"]
FUNCTION = {
    "name": "get_weather",
    "description": "Tells the weather of a city now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def ask(messages):
    body = {"model": "m", "temperature": 0, "seed": 1, "max_tokens": 40, "messages": messages}
    body["tools"] = [{"type": "function", "function": FUNCTION}]
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]["message"]


messages = [{"role": "system", "content": f"You are {sys.argv[1]}. Call get_weather for every city that you are asked about."}]
for city in CITIES:
    messages.append({"role": "user", "content": f"How is the weather in {city}?"})
    for _ in range(4):
        message = ask(messages)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            result = "It is sunny and warm there, with some wind."
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    print(city, message["content"])
