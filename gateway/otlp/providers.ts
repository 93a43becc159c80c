import type { Provider } from "../directory.ts";

type Kind = Provider["kind"];

/** Kinds of provider by the names that OpenTelemetry's conventions, old and new, have for them, in lower case. */
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

/** Vendors that are tried in turn where none is named: each has names of its own for its models. */
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

/** Whose prices may hold for a point: the provider named, else where the emitter gets its models, else any that has it. */
export function providerKindsOf(
  named: string | null | undefined,
  vendors: readonly Kind[] = VENDORS,
): readonly Kind[] {
  if (named) {
    const name = named.toLowerCase();
    // Of a provider that nobody knows only an administrator can know the price.
    return [(Object.hasOwn(KINDS, name) && KINDS[name]) || "openai-compatible"];
  }
  return vendors;
}
