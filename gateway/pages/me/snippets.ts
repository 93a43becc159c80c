/** How a client is pointed at this gateway. `key` stands for the caller's key. */
type Snippet = { name: string; text: (address: string, key: string) => string };

export const SNIPPETS: readonly Snippet[] = [
  {
    name: "Claude Code",
    text: (address, key) =>
      `export ANTHROPIC_BASE_URL=${address}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nclaude`,
  },
  {
    name: "Codex",
    text: (address, key) =>
      `export TALLYGATE_KEY=${key}\ncodex -c model_provider=tallygate \\\n  -c 'model_providers.tallygate={name="Tallygate",base_url="${address}/v1",env_key="TALLYGATE_KEY",wire_api="responses"}'`,
  },
  {
    name: "Gemini CLI",
    text: (address, key) => `export GOOGLE_GEMINI_BASE_URL=${address}\nexport GEMINI_API_KEY=${key}\ngemini`,
  },
  {
    name: "opencode",
    text: (address, key) =>
      `# opencode.json\n{ "provider": { "openai": { "options": { "baseURL": "${address}/v1", "apiKey": "${key}" } } } }`,
  },
  {
    name: "Cursor",
    text: (address, key) =>
      `Settings → Models → OpenAI API key: ${key}\nOverride OpenAI base URL: ${address}/v1`,
  },
  {
    name: "OpenAI SDK",
    text: (address, key) =>
      `import OpenAI from "openai";\nconst openai = new OpenAI({ baseURL: "${address}/v1", apiKey: "${key}" });`,
  },
  {
    name: "Anthropic SDK",
    text: (address, key) =>
      `import Anthropic from "@anthropic-ai/sdk";\nconst anthropic = new Anthropic({ baseURL: "${address}", apiKey: "${key}" });`,
  },
  {
    name: "curl",
    text: (address, key) =>
      `curl ${address}/v1/messages -H "x-api-key: ${key}" -H "content-type: application/json" \\\n  -d '{"model":"echo","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}'`,
  },
];
