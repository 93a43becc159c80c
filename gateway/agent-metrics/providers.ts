import type { Provider } from "../directory.ts";

type Kind = Provider["kind"];

/** Provider kinds by their names in old and new OpenTelemetry conventions, in lower case. */
const KINDS: Readonly<Record<string, Kind>> = {
  openai: "openai",
  anthropic: "anthropic",
  "azure.ai.openai": "azure",
  "azure.ai.inference": "azure",
  "az.ai.openai": "azure",
  "az.ai.inference": "azure",
  azure: "azure",
  "aws.bedrock": "bedrock",
  aws_bedrock: "bedrock",
  bedrock: "bedrock",
  "gcp.gemini": "gemini",
  "gcp.gen_ai": "gemini",
  "gcp.vertex_ai": "gemini",
  vertex_ai: "gemini",
  google: "gemini",
  gemini: "gemini",
  mistral_ai: "mistral",
  mistral: "mistral",
  groq: "groq",
  deepseek: "deepseek",
  x_ai: "xai",
  xai: "xai",
  cohere: "cohere",
  perplexity: "perplexity",
  moonshot_ai: "moonshot",
  openrouter: "openrouter",
  together: "together",
  fireworks: "fireworks",
  ollama: "ollama",
  echo: "echo",
};

/** Vendors tried in turn if none is named: their model names do not overlap. */
const VENDORS: readonly Kind[] = [
  "openai",
  "anthropic",
  "gemini",
  "mistral",
  "deepseek",
  "xai",
  "moonshot",
  "zai",
  "minimax",
  "cohere",
];

/** Provider kinds whose prices may apply: the one named, else those of the emitter, else all vendors. */
export function providerKindsOf(
  named: string | null | undefined,
  vendors: readonly Kind[] = VENDORS,
): readonly Kind[] {
  if (named) {
    const name = named.toLowerCase();
    // For an unknown provider only an administrator can set prices.
    return [(Object.hasOwn(KINDS, name) && KINDS[name]) || "openai-compatible"];
  }
  return vendors;
}
