import type { HeaderView } from "../call.ts";

/** A known tool: its user agent's prefix, headers it must send if that is ambiguous, and those that name its session. */
type ClientFacts = {
  userAgent: string;
  name: string;
  headers?: readonly string[];
  sessionHeaders?: readonly string[];
};

/** Known tools by user agent, recorded from real traffic; the first match wins. */
export const CLIENTS = [
  { userAgent: "claude-cli/", name: "claude-code", sessionHeaders: ["x-claude-code-session-id"] },
  { userAgent: "claude-code/", name: "claude-code" },
  { userAgent: "opencode/", name: "opencode", sessionHeaders: ["x-session-affinity"] },
  { userAgent: "codex_", name: "codex", sessionHeaders: ["session-id", "session_id"] },
  { userAgent: "codex-", name: "codex" },
  { userAgent: "codex/", name: "codex" },
  { userAgent: "codex ", name: "codex" },
  { userAgent: "GeminiCLI", name: "gemini-cli" },
  { userAgent: "QwenCode/", name: "qwen-code" },
  { userAgent: "factory-cli/", name: "droid" },
  // Continue's bundle shortens the name of its SDK.
  { userAgent: "ls/JS", name: "continue" },
  // Copilot CLI sends its SDK's user agent; this header is on every call of a conversation, and on no other tool's.
  { userAgent: "OpenAI/JS", name: "copilot-cli", headers: ["x-initiator"] },
  { userAgent: "Anthropic/JS", name: "copilot-cli", headers: ["x-initiator"] },
  { userAgent: "OpenAI/JS", name: "openai-js" },
  { userAgent: "OpenAI/Python", name: "openai-python" },
  { userAgent: "AsyncOpenAI/Python", name: "openai-python" },
  { userAgent: "Anthropic/JS", name: "anthropic-js" },
  { userAgent: "Anthropic/Python", name: "anthropic-python" },
  { userAgent: "AsyncAnthropic/Python", name: "anthropic-python" },
  { userAgent: "ai/", name: "ai-sdk" },
  { userAgent: "ai-sdk/", name: "ai-sdk" },
  { userAgent: "ai-sdk-", name: "ai-sdk" },
  { userAgent: "langchainjs-", name: "langchain-js" },
  { userAgent: "google-genai-sdk/", name: "google-genai" },
  { userAgent: "cohere-ai/", name: "cohere-sdk" },
] as const satisfies readonly ClientFacts[];

const ROWS: readonly (ClientFacts & { prefix: string })[] = CLIENTS.map((row) => ({
  ...row,
  prefix: row.userAgent.toLowerCase(),
}));

/** Tools' own session headers, in the order in which they count. */
export const SESSION_HEADERS = ROWS.flatMap(({ sessionHeaders = [] }) => sessionHeaders);

const PRODUCT = /^[A-Za-z0-9._-]{1,32}$/;

/** The client, 1 to 32 characters: a known tool, else the user agent's first token, else `unknown`. */
export function clientName(userAgent: string | null, headers: HeaderView): string {
  const agent = userAgent?.trim() ?? "";
  const lower = agent.toLowerCase();
  for (const { prefix, name, headers: needed } of ROWS) {
    if (lower.startsWith(prefix) && sends(headers, needed)) return name;
  }
  const product = agent.split(/[/ ]/, 1)[0] ?? "";
  return PRODUCT.test(product) ? product : "unknown";
}

const sends = (headers: HeaderView, names: readonly string[] = []): boolean =>
  names.every((name) => headers.has(name));
