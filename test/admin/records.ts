import type { RequestRow } from "#drizzle/schema/records.ts";

let count = 0;

/** A record that started at `startedAt` (RFC 3339), with an id of that time; ids of one time are in order of making. */
export function recordAt(startedAt: string, facts: Partial<RequestRow> = {}): RequestRow {
  const time = Date.parse(startedAt).toString(16).padStart(12, "0");
  const serial = (count++).toString(16).padStart(12, "0");
  return {
    id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${serial}`,
    startedAt,
    surface: "chat.completions",
    channel: "api",
    state: "ok",
    status: 200,
    streamed: false,
    attempts: 1,
    route: "echo",
    routeSource: "model",
    keyId: "00000000-0000-7000-8000-00000000000a",
    client: "curl",
    tags: [],
    usageSource: "provider",
    unpriced: false,
    partial: false,
    ...facts,
  };
}
