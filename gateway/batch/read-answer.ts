import type { BatchFacts, BatchKind } from "#drizzle/schema/batches.ts";
import { parseLabel } from "#shared/labels.ts";
import { words } from "#shared/words.ts";
import { GatewayError } from "../errors.ts";
import { objectOf, type ProviderObject, parseObject } from "../providers/provider-json.ts";
import type { BatchUpdate, NewFile } from "../stores/batches.ts";

const ID = /^[A-Za-z0-9_-]{1,128}$/;

const idIn = (value: unknown): string | null => (typeof value === "string" && ID.test(value) ? value : null);

/** Parses a provider's answer. @throws GatewayError upstream_broken if it has no id. */
export function objectWithId(bytes: Uint8Array): { object: ProviderObject; id: string } {
  const object = parseObject(bytes);
  const id = idIn(object?.["id"]);
  if (!object || id === null) throw new GatewayError("upstream_broken");
  return { object, id };
}

const NAME_MAX = 255;
const name = (value: unknown): string | null =>
  typeof value === "string" ? parseLabel(value, NAME_MAX) : null;

const count = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** From OpenAI's seconds since 1970 to ISO 8601; null beyond the year 9999. */
const atSeconds = (value: unknown): string | null => {
  const seconds = count(value);
  return seconds === null || seconds > 253_402_300_799 ? null : new Date(seconds * 1000).toISOString();
};

export const fileFacts = (object: ProviderObject, fallback: { filename: string | null; createdAt: string }) =>
  ({
    filename: name(object["filename"]) ?? fallback.filename,
    bytes: count(object["bytes"]),
    status: name(object["status"]),
    createdAt: atSeconds(object["created_at"]) ?? fallback.createdAt,
    expiresAt: atSeconds(object["expires_at"]),
  }) satisfies Partial<NewFile>;

/** The counts and times of a batch that are stored; never anything that a person could have written. */
const FACTS = {
  lines: words(`
    created_at in_progress_at expires_at finalizing_at completed_at failed_at expired_at cancelling_at
    cancelled_at request_counts
  `),
  messages: words("created_at ended_at expires_at archived_at cancel_initiated_at request_counts"),
} as const satisfies Record<BatchKind, readonly string[]>;

const STATUS_MEMBER = { lines: "status", messages: "processing_status" } as const satisfies Record<
  BatchKind,
  string
>;

export function batchUpdate(kind: BatchKind, object: ProviderObject): BatchUpdate {
  const facts: BatchFacts = {};
  for (const member of FACTS[kind]) {
    const value = fact(object[member]);
    if (value !== null) facts[member] = value;
  }
  return {
    status: name(object[STATUS_MEMBER[kind]]) ?? "unknown",
    facts,
    outputFileId: idIn(object["output_file_id"]),
    errorFileId: idIn(object["error_file_id"]),
    requestsTotal: totalOf(facts["request_counts"]),
  };
}

function fact(value: unknown): BatchFacts[string] {
  if (typeof value === "number") return count(value);
  if (typeof value === "string")
    return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : null;
  const counts = objectOf(value);
  if (!counts) return null;
  return Object.fromEntries(
    Object.entries(counts).flatMap(([member, n]) => {
      const known = count(n);
      return /^[a-z_]{1,32}$/.test(member) && known !== null ? [[member, known]] : [];
    }),
  );
}

function totalOf(counts: BatchFacts[string] | undefined): number | null {
  if (typeof counts !== "object" || counts === null) return null;
  const { total, ...parts } = counts;
  const sum = total ?? Object.values(parts).reduce((all, one) => all + one, 0);
  return sum <= 2_147_483_647 ? sum : null;
}

const ENDED = {
  lines: new Set(["completed", "failed", "expired", "cancelled"]),
  messages: new Set(["ended"]),
} as const satisfies Record<BatchKind, ReadonlySet<string>>;

/** Whether a batch of that status is final: no more work and no more charges. */
export const isEnded = (kind: BatchKind, status: string): boolean => ENDED[kind].has(status);
