"""Agents that call each other, and write down what they did: `team.py SEED LOG`.

An agent asks by one format, and its sub-agents by the next one. A tool can be another agent, whose first text is the
argument. The calls of one answer run at once, each in a thread. LOG gets a list of conversations as JSON.
"""

import json
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai

SEED, LOG = int(sys.argv[1]), sys.argv[2]
WIRES = ["chat", "responses", "messages"]
OPENAI = openai.OpenAI(api_key="test-key-of-openai")
ANTHROPIC = anthropic.Anthropic(api_key="test-key-of-anthropic")
FIELDS = {
    "look": {"city": "string"},
    "add": {"a": "number", "b": "number"},
    "fail": {"why": "string"},
    "delegate": {"task": "string"},
}
SCHEMAS = {
    name: {"type": "object", "properties": {field: {"type": kind} for field, kind in fields.items()}}
    for name, fields in FIELDS.items()
}
conversations, lock = [], threading.Lock()


class Agent:
    """A conversation. Its log has the turns: what was asked, what the model said, and what the tools returned."""

    def __init__(self, depth, parent=None):
        self.depth, self.wire = depth, WIRES[(SEED + depth) % 3]
        self.random = random.Random(f"{SEED} {parent}")
        self.sent, self.turns = [], []
        with lock:
            conversations.append({"parent": parent, "wire": self.wire, "turns": self.turns})

    def turn(self, text):
        turn = {"text": text, "asks": [], "results": {}}
        self.turns.append(turn)
        self.sent.append({"role": "user", "content": text})
        while True:
            ask = getattr(self, self.wire)(self.random.random() < 0.5)
            turn["asks"].append(ask)
            if not ask["calls"]:
                turn["answer"] = ask["text"]
                return ask["text"]
            with ThreadPoolExecutor(len(ask["calls"])) as pool:
                results = list(pool.map(lambda call: self.call(*call), ask["calls"]))
            for (id, *_), (result, failed) in zip(ask["calls"], results):
                turn["results"][id] = [result, failed]
            self.send_back([id for id, *_ in ask["calls"]], results)

    def call(self, id, name, arguments):
        time.sleep(random.Random(id).random() / 50)
        if name == "look":
            return f"{arguments['city']}: {len(arguments['city'])} degrees", False
        if name == "add":
            return str(arguments["a"] + arguments["b"]), False
        if name == "delegate":
            return Agent(self.depth + 1, id).turn(arguments["task"]), False
        return f"broken: {arguments['why']}", True

    def send_back(self, ids, results):
        if self.wire == "chat":
            for id, (text, _) in zip(ids, results):
                self.sent.append({"role": "tool", "tool_call_id": id, "content": text})
        elif self.wire == "responses":
            for id, (text, _) in zip(ids, results):
                self.sent.append({"type": "function_call_output", "call_id": id, "output": text})
        else:
            blocks = [
                {"type": "tool_result", "tool_use_id": id, "content": text, **({"is_error": True} if failed else {})}
                for id, (text, failed) in zip(ids, results)
            ]
            self.sent.append({"role": "user", "content": blocks})

    def chat(self, streams):
        function = lambda name: {"name": name, "description": name, "parameters": SCHEMAS[name]}
        tools = [{"type": "function", "function": function(name)} for name in SCHEMAS]
        asked = {"model": "m-chat", "messages": self.sent, "tools": tools}
        if not streams:
            completion = OPENAI.chat.completions.create(**asked)
            message, usage = completion.choices[0].message, completion.usage
        else:
            with OPENAI.chat.completions.stream(**asked) as stream:
                stream.until_done()
                message, usage = stream.get_final_completion().choices[0].message, None
        calls = message.tool_calls or []
        back = {"role": "assistant", "content": message.content}
        if calls:
            function = lambda call: {"name": call.function.name, "arguments": call.function.arguments}
            back["tool_calls"] = [{"id": call.id, "type": "function", "function": function(call)} for call in calls]
        self.sent.append(back)
        calls = [[call.id, call.function.name, json.loads(call.function.arguments)] for call in calls]
        tokens = usage and [usage.prompt_tokens, usage.completion_tokens]
        return {"text": message.content or "", "calls": calls, "tokens": tokens}

    def responses(self, streams):
        tool = lambda name: {"type": "function", "name": name, "description": name, "strict": False}
        tools = [{**tool(name), "parameters": SCHEMAS[name]} for name in SCHEMAS]
        asked = {"model": "m-responses", "input": self.sent, "tools": tools}
        if streams:
            with OPENAI.responses.stream(**asked) as stream:
                response = stream.get_final_response()
        else:
            response = OPENAI.responses.create(**asked)
        self.sent += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        calls = [[call.call_id, call.name, json.loads(call.arguments)] for call in calls]
        tokens = [response.usage.input_tokens, response.usage.output_tokens]
        return {"text": response.output_text, "calls": calls, "tokens": tokens}

    def messages(self, streams):
        tools = [{"name": name, "description": name, "input_schema": SCHEMAS[name]} for name in SCHEMAS]
        asked = {"model": "m-messages", "max_tokens": 100, "messages": self.sent, "tools": tools}
        if streams:
            with ANTHROPIC.messages.stream(**asked) as stream:
                message = stream.get_final_message()
        else:
            message = ANTHROPIC.messages.create(**asked)
        self.sent.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [[it.id, it.name, it.input] for it in message.content if it.type == "tool_use"]
        # This format counts cached tokens apart.
        tokens = [message.usage.input_tokens + message.usage.cache_read_input_tokens, message.usage.output_tokens]
        return {"text": text, "calls": calls, "tokens": tokens}


first = Agent(0)
for number in range(2):
    first.turn(f"Question {number} of seed {SEED} at depth 0: how is the weather?")
with open(LOG, "w") as file:
    json.dump(conversations, file)
