// Asks an endpoint once with an official SDK, and prints what the SDK read: `read.mjs FORMAT ADDRESS MODE`.
// As tests/sdks/read.py, which explains the arguments.

const [format, address, mode] = process.argv.slice(2);
const streams = mode !== "whole";
const image = "iVBORw0KGgo=";
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const input = { city: "Oslo" };

async function openai() {
  const { default: OpenAI } = await import("openai");
  return new OpenAI({ baseURL: address, apiKey: "test", maxRetries: 0 });
}

const formats = {
  async chat() {
    const client = await openai();
    let messages = [{ role: "user", content: "Hello" }];
    if (mode === "long") {
      const fn = { name: "weather", arguments: JSON.stringify(input) };
      const url = { url: `data:image/png;base64,${image}` };
      messages = [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: url }] },
        { role: "assistant", content: "I look.", tool_calls: [{ id: "call_1", type: "function", function: fn }] },
        { role: "tool", tool_call_id: "call_1", content: "rain" },
      ];
    }
    const fn = { name: "weather", description: "The weather.", parameters: schema };
    const asked = { model: "m", messages, tools: [{ type: "function", function: fn }] };
    const completion = streams
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked);
    const { message, finish_reason: finish } = completion.choices[0];
    const calls = message.tool_calls ?? [];
    return {
      text: message.content || message.refusal || "",
      calls: calls.map((call) => [call.id, call.function.name, JSON.parse(call.function.arguments)]),
      finish,
    };
  },

  async responses() {
    const client = await openai();
    let items = [{ role: "user", content: "Hello" }];
    if (mode === "long") {
      const picture = { type: "input_image", image_url: `data:image/png;base64,${image}`, detail: "auto" };
      items = [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "input_text", text: "What is it?" }, picture] },
        { role: "assistant", content: "I look." },
        { type: "function_call", call_id: "call_1", name: "weather", arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: "call_1", output: "rain" },
      ];
    }
    const tool = { type: "function", name: "weather", description: "The weather." };
    const asked = { model: "m", input: items, tools: [{ ...tool, parameters: schema, strict: false }] };
    let response;
    if (streams) {
      // The SDK's own way to the final response knows no incomplete one.
      for await (const event of client.responses.stream(asked)) {
        if (["response.completed", "response.incomplete"].includes(event.type)) response = event.response;
      }
    } else {
      response = await client.responses.create(asked);
    }
    const calls = response.output.filter((item) => item.type === "function_call");
    const parts = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
    return {
      text: parts.map((part) => part.text ?? part.refusal).join(""),
      calls: calls.map((call) => [call.call_id, call.name, JSON.parse(call.arguments)]),
      finish: response.incomplete_details?.reason ?? response.status,
    };
  },

  async messages() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const client = new Anthropic({ baseURL: address.replace(/\/v1$/, ""), apiKey: "test", maxRetries: 0 });
    let messages = [{ role: "user", content: "Hello" }];
    if (mode === "long") {
      const source = { type: "base64", media_type: "image/png", data: image };
      messages = [
        { role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image", source }] },
        { role: "assistant", content: [{ type: "text", text: "I look." }, { type: "tool_use", id: "call_1", name: "weather", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "rain" }] },
      ];
    }
    const tools = [{ name: "weather", description: "The weather.", input_schema: schema }];
    const asked = { model: "m", max_tokens: 100, messages, tools };
    if (mode === "long") asked.system = "Be brief.";
    const message = streams
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    const texts = message.content.filter((block) => block.type === "text");
    const calls = message.content.filter((block) => block.type === "tool_use");
    return {
      text: texts.map((block) => block.text).join(""),
      calls: calls.map((call) => [call.id, call.name, call.input]),
      finish: message.stop_reason,
    };
  },
};

try {
  console.log(JSON.stringify(await formats[format]()));
} catch (error) {
  console.log(JSON.stringify({ error: error.constructor.name, said: String(error.message) }));
}
