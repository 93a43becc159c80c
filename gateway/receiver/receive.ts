import type { AgentPointRow } from "#drizzle/schema/agent.ts";
import type { Clock } from "#shared/clock.ts";
import { isSingleLine } from "#shared/text-length.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { requireJsonLimits } from "../http/json-limits.ts";
import { readExport } from "../otlp/read-export.ts";
import { NAME_LENGTH_MAX, type PartialSuccess, rejectedPoints } from "../otlp/rejected-points.ts";
import { type Point, validatePoints } from "../otlp/validate-points.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { AgentMetrics } from "../stores/agent-metrics.ts";
import { estimateCost } from "./estimate-cost.ts";

export type ReceiveDeps = {
  agentMetrics: Pick<AgentMetrics, "store">;
  prices(): PriceBook;
  clock: Clock;
};

/** Points of one export (decision: Agents' own metrics are a separate source). */
const POINTS_MAX = 10_000;
/** Exports that are read and stored at once; each may take some hundred megabytes for a moment. */
const AT_ONCE_MAX = 16;
/** Points between which other calls get their turn. */
const STRIDE = 250;

/**
 * One export, from its bytes to what the answer tells of it. When this resolves, all that was accepted is stored.
 * @throws GatewayError invalid_request, too_large, overloaded, store_unavailable
 */
export function createReceiver(
  deps: ReceiveDeps,
): (key: ClientKey, bytes: Uint8Array) => Promise<PartialSuccess> {
  let running = 0;
  return async (key, bytes) => {
    if (running >= AT_ONCE_MAX) {
      throw new GatewayError("overloaded", "Too many exports at once. Send it again.");
    }
    running++;
    try {
      return await receive(deps, key, bytes);
    } finally {
      running--;
    }
  };
}

async function receive(deps: ReceiveDeps, key: ClientKey, bytes: Uint8Array): Promise<PartialSuccess> {
  const now = deps.clock.now();

  // Read: how much it is, and its form
  requireJsonLimits(bytes);
  const series = readExport(bytes, POINTS_MAX);

  // Judge: every point is accepted and priced, or refused by name
  const book = deps.prices();
  const whose = { keyId: key.id, owner: key.owner, receivedAt: now.toISOString() };
  const rows: AgentPointRow[] = [];
  const attributes = new Set<string>();
  const metrics = new Set<string>();
  const refused = rejectedPoints();
  const verdicts = {
    accepted: (point: Point) => void rows.push({ ...point, ...whose, ...estimateCost(book, point) }),
    refused: (metric: string, reason: string, points: number) => {
      metrics.add(metric);
      refused.add(metric, reason, points);
    },
    dropped: (attribute: string) => void attributes.add(attribute),
  };
  const judging = { keyId: key.id, nowMs: now.getTime() };
  await inTurns(series.map((one) => validatePoints(one, judging, verdicts)));

  // Store: together with the names of what is not stored
  const dropped = [...kept("attribute", attributes), ...kept("metric", metrics)];
  await deps.agentMetrics.store({ keyId: key.id, at: now, rows, dropped });
  return refused.summary();
}

/** Takes every step of the generators, and lets other calls have their turn now and then. */
async function inTurns(work: readonly Generator<void>[]): Promise<void> {
  let steps = 0;
  for (const generator of work) {
    for (const _ of generator) {
      steps++;
      if (steps % STRIDE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Names that can be kept: of a label's length and without control characters. */
const kept = <Kind extends "attribute" | "metric">(kind: Kind, names: ReadonlySet<string>) =>
  [...names].filter((name) => isSingleLine(name, NAME_LENGTH_MAX)).map((name) => ({ kind, name }));
