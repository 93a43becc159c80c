/**
 * Vendors' own ids that the built-in list has only behind a pattern, or at a wrong entry. By the list's provider, then by
 * the id: the list's entry, or null for none. Each block names its source and the day on which it was read.
 */
export const EXACT_IDS: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  // developers.openai.com, models and moderation, 2026-11-27.
  openai: {
    "computer-use-preview": "computer-use",
    "ft:gpt-3.5-turbo": "ft:gpt-3.5-turbo-",
    "omni-moderation-latest": "moderation",
    "omni-moderation-2024-09-26": "moderation",
    "text-moderation-latest": "moderation",
    "text-moderation-stable": "moderation",
    "text-moderation-007": "moderation",
  },
  // platform.claude.com, model deprecations, 2026-11-27.
  anthropic: { "claude-2.0": "claude-2", "claude-2.1": "claude-2" },
  // docs.aws.amazon.com/bedrock, claude-in-amazon-bedrock (platform.claude.com): Mantle's names have no date, 2026-11-27.
  aws: {
    "anthropic.claude-haiku-4-5": "regional.anthropic.claude-haiku-4-5-20251001-v1:0",
    "anthropic.claude-sonnet-4-5": "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  // ai.google.dev/gemini-api/docs/models, cloud.google.com/vertex-ai, partner models, 2026-11-27.
  google: {
    "claude-opus-4-1": "claude-4-opus",
    "gemini-1.5-flash-8b": "gemini-flash-1.5-8b",
    "gemini-2.5-flash-lite-preview-06-17": "gemini-2.5-flash-lite",
    "gemini-2.5-flash-lite-preview-09-2025": "gemini-2.5-flash-lite",
    "gemini-2.5-flash-preview-04-17": "gemini-2.5-flash-preview",
    "gemini-2.5-flash-preview-05-20": "gemini-2.5-flash-preview",
    "gemini-2.5-pro-preview-03-25": "gemini-2.5-pro",
    "gemini-2.5-pro-preview-05-06": "gemini-2.5-pro",
    "gemini-2.5-pro-preview-06-05": "gemini-2.5-pro",
    "gemini-3.1-flash-lite-preview": "gemini-3.1-flash-lite",
    "gemini-3.1-pro-preview-customtools": "gemini-3.1-pro-preview",
    "gemma-3-1b-it": "gemma-3",
    "gemma-3-4b-it": "gemma-3",
    "gemma-3-12b-it": "gemma-3",
    "gemma-3-27b-it": "gemma-3",
    "gemma-3n-e2b-it": "gemma-3n",
    "gemma-3n-e4b-it": "gemma-3n",
  },
  // The list gives it the price of openai/gpt-oss-120b, twice its own (groq.com/pricing, 2026-11-27).
  groq: { "openai/gpt-oss-safeguard-20b": null },
  // docs.mistral.ai, models (`apiNames`), 2026-11-27: the list's aliases are a version behind.
  mistral: {
    "devstral-latest": "devstral-2512",
    "devstral-medium-latest": "devstral-2512",
    "ministral-14b-latest": "ministral-14b-2512",
    "ministral-3b-2410": "ministral-3b",
    "ministral-3b-latest": "ministral-3b-2512",
    "mistral-large-latest": "mistral-large-2512",
    "mistral-small-latest": "mistral-small-2603",
    "open-mixtral-8x22b": "mixtral-8x22b-instruct",
  },
  // docs.x.ai, models, 2026-11-27.
  "x-ai": { "grok-4.20-0309-reasoning": "grok-4.20", "grok-4.20-0309-non-reasoning": "grok-4.20" },
};
