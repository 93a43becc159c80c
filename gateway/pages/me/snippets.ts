type Sample = {
  /** The gateway's address, without a trailing slash. */
  address: string;
  key: string;
  /** The route or model that is called. */
  model: string;
  session: string;
};

/** A file, or lines for a shell. */
type Block = { title: string; text: string };

/** How a client calls this gateway. */
type Snippet = {
  name: string;
  blocks: (sample: Sample) => readonly Block[];
  /** Its calls carry no session, so that no merge is joined to them. */
  isWithoutSession?: true;
};

/** A word for a POSIX shell. */
const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** A text of JavaScript, Python, JSON or TOML. */
const quoted = (text: string): string => JSON.stringify(text);
const shell = (...lines: string[]): Block => ({ title: "In a shell", text: lines.join("\n") });
const file = (title: string, ...lines: string[]): Block => ({ title, text: lines.join("\n") });

const HELLO = `"Say hello."`;
const snippet = (name: string, blocks: Snippet["blocks"]): Snippet => ({ name, blocks });

export const SNIPPETS: readonly Snippet[] = [
  snippet("Claude Code", ({ address, key, model, session }) => [
    shell(
      `export ANTHROPIC_BASE_URL=${word(address)}`,
      `export ANTHROPIC_AUTH_TOKEN=${word(key)}`,
      `export ANTHROPIC_CUSTOM_HEADERS=${word(`x-session-id: ${session}`)}`,
      `claude --model ${word(model)} -p ${HELLO}`,
    ),
  ]),
  snippet("Codex", ({ address, key, model, session }) => [
    shell(
      `export TALLYGATE_KEY=${word(key)}`,
      `codex exec -m ${word(model)} -c model_provider=tallygate \\`,
      `  -c ${word(`model_providers.tallygate={name="Tallygate",base_url=${quoted(`${address}/v1`)},env_key="TALLYGATE_KEY",wire_api="responses",http_headers={"x-session-id"=${quoted(session)}}}`)} \\`,
      `  ${HELLO}`,
    ),
  ]),
  snippet("Gemini CLI", ({ address, key, model, session }) => [
    shell(
      `export GOOGLE_GEMINI_BASE_URL=${word(address)}`,
      `export GEMINI_API_KEY=${word(key)}`,
      `export GEMINI_CLI_CUSTOM_HEADERS=${word(`x-session-id: ${session}`)}`,
      `gemini -m ${word(model)} -p ${HELLO}`,
    ),
  ]),
  snippet("opencode", ({ address, key, model, session }) => [
    file("opencode.json", JSON.stringify(opencodeConfig({ address, key, model, session }), null, 2)),
    shell(`opencode run -m ${word(`tallygate/${model}`)} ${HELLO}`),
  ]),
  {
    ...snippet("Cursor", ({ address, key, model }) => [
      file(
        "Settings → Models",
        `Add the model:            ${model}`,
        `OpenAI API key:           ${key}`,
        `Override OpenAI base URL: ${address}/v1`,
        "Press Verify: it makes the first call.",
      ),
    ]),
    isWithoutSession: true,
  },
  snippet("OpenAI SDK", ({ address, key, model, session }) => [
    file(
      "hello.mjs",
      `import OpenAI from "openai";`,
      "",
      "const openai = new OpenAI({",
      `  baseURL: ${quoted(`${address}/v1`)},`,
      `  apiKey: ${quoted(key)},`,
      `  defaultHeaders: { "x-session-id": ${quoted(session)} },`,
      "});",
      "const answer = await openai.chat.completions.create({",
      `  model: ${quoted(model)},`,
      `  messages: [{ role: "user", content: ${HELLO} }],`,
      "});",
      "console.log(answer.choices[0].message.content);",
    ),
    shell("npm install openai", "node hello.mjs"),
  ]),
  snippet("Anthropic SDK", ({ address, key, model, session }) => [
    file(
      "hello.mjs",
      `import Anthropic from "@anthropic-ai/sdk";`,
      "",
      "const anthropic = new Anthropic({",
      `  baseURL: ${quoted(address)},`,
      `  apiKey: ${quoted(key)},`,
      `  defaultHeaders: { "x-session-id": ${quoted(session)} },`,
      "});",
      "const answer = await anthropic.messages.create({",
      `  model: ${quoted(model)},`,
      "  max_tokens: 256,",
      `  messages: [{ role: "user", content: ${HELLO} }],`,
      "});",
      "console.log(answer.content[0].text);",
    ),
    shell("npm install @anthropic-ai/sdk", "node hello.mjs"),
  ]),
  snippet("Python", ({ address, key, model, session }) => [
    file(
      "hello.py",
      "from openai import OpenAI",
      "",
      "client = OpenAI(",
      `    base_url=${quoted(`${address}/v1`)},`,
      `    api_key=${quoted(key)},`,
      `    default_headers={"x-session-id": ${quoted(session)}},`,
      ")",
      "answer = client.chat.completions.create(",
      `    model=${quoted(model)},`,
      `    messages=[{"role": "user", "content": ${HELLO}}],`,
      ")",
      "print(answer.choices[0].message.content)",
    ),
    shell("pip install openai", "python hello.py"),
  ]),
  snippet("curl", ({ address, key, model, session }) => [
    shell(
      `curl ${word(`${address}/v1/chat/completions`)} \\`,
      `  -H ${word(`authorization: Bearer ${key}`)} -H ${word(`x-session-id: ${session}`)} \\`,
      `  -H 'content-type: application/json' \\`,
      `  -d ${word(JSON.stringify({ model, messages: [{ role: "user", content: "Say hello." }] }))}`,
    ),
  ]),
];

const opencodeConfig = ({ address, key, model, session }: Sample) => ({
  $schema: "https://opencode.ai/config.json",
  provider: {
    tallygate: {
      npm: "@ai-sdk/openai-compatible",
      name: "Tallygate",
      options: { baseURL: `${address}/v1`, apiKey: key, headers: { "x-session-id": session } },
      models: { [model]: { name: model } },
    },
  },
});
