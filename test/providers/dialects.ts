import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProviderKind } from "#gateway/providers/catalog.ts";
import { PROVIDERS } from "#gateway/providers/catalog.ts";
import { SURFACES, type SurfaceName, type WireName } from "#gateway/surface-facts.ts";
import { NO_USAGE, type Usage } from "#shared/usage.ts";

type StreamItem = string | { [member: string]: unknown };

/** One answer of one provider, plain, streamed or both, and what it must be read as. */
export type DialectCase = {
  dialect: string;
  kind: ProviderKind;
  /** What it is written in: the kind's own wire, or that of the surface that the fixture names. */
  wire: WireName;
  name: string;
  model: string;
  atMs: number;
  /** The stream ended before it was complete. */
  cut: boolean;
  answer: Uint8Array | null;
  /** The stream's events, each with the blank line that ends it. */
  stream: string[] | null;
  /** Indexes of the events that exist only because the gateway asked for usage. */
  withheld: number[];
  expect: {
    usage: Usage;
    usageSource: string;
    responseModel: string | null;
    serviceTier: string | null;
    costUsd: string | null;
    tokenCostUsd?: string;
    /** What the provider says that it cost; absent: nothing. */
    reportedCostUsd?: string;
    /** The vendor works on it in the background. */
    pending?: boolean;
    error: boolean;
  };
};

const DIRECTORY = join(import.meta.dir, "../fixtures/wire");
const AT = "2026-11-20T12:00:00Z";

/** Every case of every fixture, with what its file says once filled in. */
export function dialectCases(): DialectCase[] {
  return readdirSync(DIRECTORY).flatMap((file) => {
    const fixture = JSON.parse(readFileSync(join(DIRECTORY, file), "utf8"));
    return fixture.cases.map((one: Record<string, never>) => caseOf(fixture, one, file.replace(".json", "")));
  });
}

// biome-ignore lint/suspicious/noExplicitAny: fixtures are data; the test reads them as they are.
function caseOf(fixture: any, one: any, dialect: string): DialectCase {
  const named = one.as === undefined ? {} : { model: one.as };
  const { surface, kind } = { ...fixture, ...one } as { surface?: SurfaceName; kind: ProviderKind };
  const wire = surface ? SURFACES[surface].wire : PROVIDERS[kind].wire;
  const isChat = wire === "chat";
  const envelope = isChat ? { ...fixture.envelope, object: "chat.completion.chunk", ...named } : {};
  const answerEnvelope = isChat ? { ...fixture.envelope, object: "chat.completion", ...named } : {};
  const item = (it: StreamItem): string => {
    if (typeof it === "string") return `${it}\n\n`;
    const data = `data: ${JSON.stringify({ ...envelope, ...it })}\n\n`;
    return isChat ? data : `event: ${it["type"]}\n${data}`;
  };
  const isObject = typeof one.answer === "object" && !Array.isArray(one.answer);
  const answer = isObject ? { ...answerEnvelope, ...one.answer } : one.answer;
  return {
    dialect,
    kind,
    wire,
    name: one.name,
    model: one.model ?? fixture.model,
    atMs: Date.parse(one.at ?? AT),
    cut: one.cut ?? false,
    answer: one.answer === undefined ? null : new TextEncoder().encode(JSON.stringify(answer)),
    stream: one.stream?.map(item) ?? null,
    withheld: one.withheld ?? [],
    expect: {
      ...one.expect,
      usage: { ...NO_USAGE, ...one.expect.usage },
      error: one.expect.error ?? false,
    },
  };
}

/** The bytes cut into chunks of `size`. */
export function chunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let from = 0; from < bytes.byteLength; from += size) chunks.push(bytes.slice(from, from + size));
  return chunks;
}
