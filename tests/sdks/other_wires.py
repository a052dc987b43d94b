"""The wires of Gemini and of Ollama for endpoint.py: what requests say, and answers, whole and as a stream."""

import json

# Gemini writes it with the first call of an answer and expects it again; others than Gemini cannot read it.
SIGNATURE = "c2lnbmVkLXRob3VnaHQ="


def either(of, name, other):
    """A field of Gemini, which clients write in two ways."""
    return of.get(name) or of.get(other)


def pieces(text, length=7):
    return [text[at : at + length] for at in range(0, len(text), length)] or [""]


def gemini_offered(body):
    """The tools of a request, as names with schemas."""
    found = {}
    for tool in body.get("tools") or []:
        for it in either(tool, "functionDeclarations", "function_declarations") or []:
            schema = it.get("parameters") or either(it, "parametersJsonSchema", "parameters_json_schema")
            found[it["name"]] = schema or {}
    return found


def gemini_read(body):
    """The texts of results, which stand in a field that each client names otherwise."""
    parts = [part for content in body["contents"] for part in content["parts"]]
    results = [either(part, "functionResponse", "function_response") for part in parts]
    said = [list(result["response"].values()) for result in results if result]
    return [it if isinstance(it, str) else json.dumps(it) for values in said for it in values]


def gemini(number, body, text, calls):
    said = [{"functionCall": {"name": name, "args": given}} for name, given in calls]
    for call in said[:1]:
        call["thoughtSignature"] = SIGNATURE
    read = body["tokens"]
    usage = {"promptTokenCount": read, "candidatesTokenCount": 12, "totalTokenCount": read + 19}
    usage |= {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": read}], "thoughtsTokenCount": 7}
    end = {"usageMetadata": usage, "modelVersion": body["model"], "responseId": f"response-{number}"}

    def part(parts, **more):
        return {"candidates": [{"content": {"parts": parts, "role": "model"}, **more, "index": 0}], **end}

    if not body["stream"]:
        whole = part(([{"text": text}] if text else []) + said, finishReason="STOP")
        return json.dumps(whole, ensure_ascii=False, indent=2)
    parts = [[{"text": piece}] for piece in pieces(text)] if text else []
    parts += [said] if said else []
    events = [*map(part, parts), part([{"text": ""}], finishReason="STOP")]
    return [f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events]


def ollama(number, body, text, calls):
    listed = [
        {"id": f"call_{number}_{at}", "function": {"index": at, "name": name, "arguments": given}}
        for at, (name, given) in enumerate(calls)
    ]
    spent = {"total_duration": 9000, "load_duration": 1000, "prompt_eval_count": body["tokens"]}
    spent |= {"prompt_eval_duration": 3000, "eval_count": 12, "eval_duration": 5000}

    def part(content="", made=None, end=None):
        message = {"role": "assistant", "content": content, **({"tool_calls": made} if made else {})}
        head = {"model": body["model"], "created_at": "2026-01-01T00:00:00.000000001Z", "message": message}
        return {**head, "done": bool(end), **(end or {})}

    end = {"done_reason": "stop", **spent}
    def line(message):
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"))

    if not body.get("stream", True):
        return line(part(text, listed, end))
    parts = [part(piece) for piece in pieces(text)] if text else []
    # LiteLLM takes calls of several lines for one.
    parts += [part(made=listed)] if listed else []
    return [line(it) + "\n" for it in [*parts, part(end=end)]]


# What Ollama tells of a model, which LiteLLM asks beside each question.
SHOWN = {
    "details": {"format": "gguf", "family": "llama"},
    "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
    "capabilities": ["completion", "tools"],
    "template": "",
}
