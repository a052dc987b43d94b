// The agent of agent.py on the official SDKs of Node, with the same arguments.

import { appendFileSync } from "node:fs";

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [only, mode] = process.argv.slice(2);
const questions = ["How is the weather in Oslo and Rome?", "And tomorrow? \u00e9\u2028\u{1f31e}"].slice(0, only ? 1 : 2);
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const [name, description] = ["get_weather", "The weather of a city."];
// Only the time-out of a request is told to the endpoint, not that of a client.
const patience = { timeout: 1000 * Number(process.env.AGENT_PATIENCE ?? 600), maxRetries: Number(process.env.AGENT_RETRIES ?? 2) };
const getWeather = ({ city }) => {
  if (process.env.GOT) appendFileSync(process.env.GOT, `${city}\n`);
  return `sunny in ${city}`;
};

const wires = {
  async chat(streams) {
    const client = new OpenAI({ apiKey: "test-key-of-openai" });
    const tools = [{ type: "function", function: { name, description, parameters: schema } }];
    const messages = [{ role: "system", content: "Be brief." }];
    for (const content of questions) {
      messages.push({ role: "user", content });
      for (;;) {
        const asked = { model: "m-chat", messages, tools };
        const completion = streams
          ? await client.chat.completions.stream(asked, patience).finalChatCompletion()
          : await client.chat.completions.create(asked, patience);
        const message = completion.choices[0].message;
        messages.push(message);
        if (!message.tool_calls?.length) {
          console.log(message.content);
          break;
        }
        for (const call of message.tool_calls) {
          const content = getWeather(JSON.parse(call.function.arguments));
          messages.push({ role: "tool", tool_call_id: call.id, content });
        }
      }
    }
  },
  async responses(streams) {
    const client = new OpenAI({ apiKey: "test-key-of-openai" });
    const tools = [{ type: "function", name, description, parameters: schema, strict: false }];
    const input = [];
    for (const content of questions) {
      input.push({ role: "user", content });
      for (;;) {
        const asked = { model: "m-responses", instructions: "Be brief.", tools, input };
        const response = streams
          ? await client.responses.stream(asked, patience).finalResponse()
          : await client.responses.create(asked, patience);
        input.push(...response.output);
        const calls = response.output.filter((item) => item.type === "function_call");
        if (!calls.length) {
          console.log(response.output_text);
          break;
        }
        for (const call of calls) {
          const output = getWeather(JSON.parse(call.arguments));
          input.push({ type: "function_call_output", call_id: call.call_id, output });
        }
      }
    }
  },
  async messages(streams) {
    const client = new Anthropic({ apiKey: "test-key-of-anthropic" });
    const tools = [{ name, description, input_schema: schema }];
    const messages = [];
    for (const content of questions) {
      messages.push({ role: "user", content });
      for (;;) {
        const asked = { model: "m-messages", max_tokens: 100, system: "Be brief.", tools, messages };
        const message = streams
          ? await client.messages.stream(asked, patience).finalMessage()
          : await client.messages.create(asked, patience);
        messages.push({ role: "assistant", content: message.content });
        const calls = message.content.filter((block) => block.type === "tool_use");
        if (!calls.length) {
          console.log(message.content.map((block) => block.text).join(""));
          break;
        }
        const result = (call) => ({ type: "tool_result", tool_use_id: call.id, content: getWeather(call.input) });
        messages.push({ role: "user", content: calls.map(result) });
      }
    }
  },
};

if (only) await wires[only](mode === "stream");
else {
  for (const wire of Object.values(wires)) {
    for (const streams of [false, true]) await wire(streams);
  }
}
