/** What is known of a kind's places and of what they cost. Models by the price list's names. */
export type LocationFacts = {
  /** Where its addresses name the location, as the first group. */
  address?: RegExp;
  /** Models that cost 1.1 times the list price in one place. */
  dearer?: RegExp;
  /** Models of which it is not published whether they do: their cost is at least the list's. */
  unsure?: RegExp;
};

const VERTEX_ADDRESS = /\/locations\/([a-z0-9-]+)(?:\/|$)/;

type PriceList = "openai" | "azure" | "vertex" | "vertexOpenai" | "bedrock";

/** By the vendor's price list. */
export const KNOWN_PLACES: Readonly<Record<PriceList, LocationFacts>> = {
  /**
   * Regional hosts such as `eu.api.openai.com`: models since 2026-03-05 cost 10 % more
   * (developers.openai.com/api/docs/guides/data-residency, 2026-11-27).
   */
  openai: {
    address: /^https:\/\/([a-z]{2,12})\.api\.openai\.com(?:[:/]|$)/,
    dearer: /^gpt-(?:5\.[4-9]|5\.\d\d|[6-9]|\d\d)/,
    unsure: /^gpt-(?:chat-latest|image-[2-9]|realtime-[2-9]|transcribe)/,
  },
  /**
   * Data zones and regions, which no address names: 10 % above global deployments (azure.microsoft.com, Azure OpenAI pricing,
   * 2026-11-27). Older models exist in regions alone, at the list price.
   */
  azure: {
    dearer: /^(?:gpt-4o|gpt-4\.[15]|gpt-[5-9]|chatgpt-4o|o\d|codex|computer-use|text-embedding-3)/,
    unsure: /^(?!gpt-3|gpt-4(?:-|$)|ada|babbage|curie|davinci|text-|tts|whisper|dall-e)/,
  },
  /** Claude since Sonnet 4.5: 10 % more in regions and multi-regions (platform.claude.com, Claude on Vertex AI, 2026-11-27). */
  vertex: {
    address: VERTEX_ADDRESS,
    dearer: /^claude-(?:(?:haiku|opus|sonnet)-4-[5-9]|(?:fable|haiku|mythos|opus|sonnet)-[5-9])/,
  },
  /** Generally available models since Gemini 3: the same (cloud.google.com/vertex-ai/generative-ai/pricing, 2026-10-07). */
  vertexOpenai: {
    address: VERTEX_ADDRESS,
    dearer: /^gemini-(?:3\.1-flash-(?:image|lite)$|3\.[5-9]|[4-9])/,
    unsure: /^gemini-3|-maas$/,
  },
  /** The list has prices of its own for the models' regional names, and for `global.…`. */
  bedrock: { address: /\/\/bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z0-9-]+)\./ },
};

/** Where models may run anywhere, which list prices are for. */
const ANYWHERE = "global";

/** Where a provider's models run: as an administrator set it, else as its address says; null: anywhere, or not known. */
export function locationOf(
  places: LocationFacts | undefined,
  { baseUrl, set }: { baseUrl: string; set: string | null },
): string | null {
  const location = set ?? places?.address?.exec(baseUrl)?.[1] ?? ANYWHERE;
  return location === ANYWHERE ? null : location;
}
