// The agent of agent.py on the Vercel AI SDK, with the same arguments.

import { appendFileSync } from "node:fs";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [only, mode] = process.argv.slice(2);
const limits = { maxRetries: Number(process.env.AGENT_RETRIES ?? 2) };
globalThis.AI_SDK_LOG_WARNINGS = false;
const models = {
  chat: () => createOpenAI({ apiKey: "test-key-of-openai" }).chat("m-chat"),
  responses: () => createOpenAI({ apiKey: "test-key-of-openai" }).responses("m-responses"),
  messages: () => createAnthropic({ apiKey: "test-key-of-anthropic", ...address() })("m-messages"),
};

// It expects the version in the address, and adds none: behind toolyard it is not needed.
function address() {
  return only ? {} : { baseURL: `${process.env.ANTHROPIC_BASE_URL}/v1` };
}

const get_weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    if (process.env.GOT) appendFileSync(process.env.GOT, `${city}\n`);
    return `sunny in ${city}`;
  },
});

async function converse(model, streams) {
  const messages = [];
  for (const content of ["How is the weather in Oslo and Rome?", "And tomorrow?"].slice(0, only ? 1 : 2)) {
    messages.push({ role: "user", content });
    const asked = { model: model(), system: "Be brief.", messages, tools: { get_weather }, stopWhen: stepCountIs(5), ...limits };
    const result = streams ? streamText(asked) : await generateText(asked);
    const response = await result.response;
    messages.push(...response.messages);
    console.log(await result.text);
  }
}

if (only) await converse(models[only], mode === "stream");
else {
  for (const model of Object.values(models)) {
    for (const streams of [false, true]) await converse(model, streams);
  }
}
