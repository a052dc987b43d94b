// The agent of agent.py on frameworks of Node: `frameworks.mjs NAME WIRE stream` or `… whole`.
// The limits are those of agent.py.

import { appendFileSync } from "node:fs";

import { z } from "zod";

const [name, wire, mode] = process.argv.slice(2);
const streams = mode === "stream";
const question = "How is the weather in Oslo and Rome?";
const timeout = 1000 * Number(process.env.AGENT_PATIENCE ?? 600);
const maxRetries = Number(process.env.AGENT_RETRIES ?? 2);
process.env.OPENAI_API_KEY ??= "test-key-of-openai";
process.env.ANTHROPIC_API_KEY ??= "test-key-of-anthropic";
process.env.GEMINI_API_KEY ??= "test-key-of-gemini";
process.env.MASTRA_TELEMETRY_DISABLED = "1";
globalThis.AI_SDK_LOG_WARNINGS = false;

const description = "The weather of a city.";
const parameters = z.object({ city: z.string() });
const getWeather = ({ city }) => {
  if (process.env.GOT) appendFileSync(process.env.GOT, `${city}\n`);
  return `sunny in ${city}`;
};

// Clients without a limit of their own for how long they read without a byte get it from the fetch of Node.
const patientFetch = (address, asked) => {
  const limits = { headersTimeout: timeout, bodyTimeout: timeout };
  const own = () => globalThis[Symbol.for("undici.globalDispatcher.1")];
  const dispatcher = { dispatch: (options, handler) => own().dispatch({ ...options, ...limits }, handler) };
  return fetch(address, { ...asked, dispatcher });
};
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

const frameworks = {
  async langchain() {
    const { createAgent, tool } = await import("langchain");
    const { ChatOpenAI } = await import("@langchain/openai");
    const { ChatAnthropic } = await import("@langchain/anthropic");
    const model =
      wire === "messages"
        ? new ChatAnthropic({ model: "m-messages", maxTokens: 100, maxRetries, clientOptions: { timeout, maxRetries } })
        : new ChatOpenAI({ model: `m-${wire}`, useResponsesApi: wire === "responses", timeout, maxRetries });
    const get_weather = tool(getWeather, { name: "get_weather", description, schema: parameters });
    const agent = createAgent({ model, tools: [get_weather], systemPrompt: "Be brief." });
    const asked = { messages: [{ role: "user", content: question }] };
    let messages;
    if (streams) {
      for await (const [kind, state] of await agent.stream(asked, { streamMode: ["messages", "values"] })) {
        if (kind === "values") messages = state.messages;
      }
    } else {
      messages = (await agent.invoke(asked)).messages;
    }
    console.log(messages.at(-1).text);
  },

  async agents() {
    const { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } = await import("@openai/agents");
    const { default: OpenAI } = await import("openai");
    setTracingDisabled(true);
    const openAIClient = new OpenAI({ timeout, maxRetries });
    const modelProvider = new OpenAIProvider({ openAIClient, useResponses: wire === "responses" });
    const get_weather = tool({ name: "get_weather", description, parameters, execute: getWeather });
    const agent = new Agent({ name: "a", instructions: "Be brief.", model: `m-${wire}`, tools: [get_weather] });
    const result = await new Runner({ modelProvider }).run(agent, question, { stream: streams });
    if (streams) {
      for await (const _ of result);
      await result.completed;
    }
    console.log(result.finalOutput);
  },

  async mastra() {
    const { Agent } = await import("@mastra/core/agent");
    const { createTool } = await import("@mastra/core/tools");
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    const models = {
      chat: () => createOpenAI().chat("m-chat"),
      responses: () => createOpenAI().responses("m-responses"),
      messages: () => createAnthropic()("m-messages"),
    };
    const execute = async (input) => getWeather(input.context ?? input);
    const get_weather = createTool({ id: "get_weather", description, inputSchema: parameters, execute });
    const of = { id: "a", name: "a", instructions: "Be brief.", maxRetries };
    const agent = new Agent({ ...of, model: models[wire](), tools: { get_weather } });
    const result = streams ? await agent.stream(question) : await agent.generate(question);
    console.log(await result.text);
  },

  async genai() {
    const { GoogleGenAI } = await import("@google/genai");
    const retryOptions = { attempts: 1 + maxRetries };
    const httpOptions = { fetch: patientFetch, retryOptions };
    const { models } = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY, httpOptions });
    const declared = { name: "get_weather", description, parametersJsonSchema: schema };
    const config = { systemInstruction: "Be brief.", tools: [{ functionDeclarations: [declared] }] };
    const contents = [{ role: "user", parts: [{ text: question }] }];
    const response = (args) => ({ output: getWeather(args) });
    const answered = ({ id, name, args }) => ({ functionResponse: { id, name, response: response(args) } });
    for (;;) {
      const asked = { model: "gemini-2.5-flash", contents, config };
      const said = streams ? await models.generateContentStream(asked) : [await models.generateContent(asked)];
      const parts = [];
      for await (const part of said) parts.push(...(part.candidates?.[0]?.content?.parts ?? []));
      const calls = parts.flatMap((part) => part.functionCall ?? []);
      if (!calls.length) return console.log(parts.map((part) => part.text ?? "").join(""));
      contents.push({ role: "model", parts }, { role: "user", parts: calls.map(answered) });
    }
  },

  async ollama() {
    const { Ollama } = await import("ollama");
    // It does not read the variable.
    const client = new Ollama({ host: process.env.OLLAMA_HOST, fetch: patientFetch });
    const tools = [{ type: "function", function: { name: "get_weather", description, parameters: schema } }];
    const messages = [{ role: "user", content: question }];
    for (;;) {
      const said = await client.chat({ model: "m-ollama", messages, tools, stream: streams });
      const message = { role: "assistant", content: "", tool_calls: [] };
      for await (const part of streams ? said : [said]) {
        message.content += part.message.content;
        message.tool_calls.push(...(part.message.tool_calls ?? []));
      }
      messages.push(message);
      if (!message.tool_calls.length) return console.log(message.content);
      for (const { function: of } of message.tool_calls) {
        messages.push({ role: "tool", tool_name: of.name, content: getWeather(of.arguments) });
      }
    }
  },
};

await frameworks[name]();
process.exit(0);
