import type { AgentPointRow } from "#drizzle/schema/agent.ts";
import type { Clock } from "#shared/clock.ts";
import { isSingleLine, isWithinLength } from "#shared/text-length.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { requireJsonLimits } from "../http/json-limits.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import type { AgentMetrics } from "../stores/agent-metrics.ts";
import { estimateCost } from "./estimate-cost.ts";
import { readExport } from "./read-export.ts";
import { type Point, type PointResults, validatePoints } from "./validate-points.ts";

export type ReceiveDeps = {
  agentMetrics: Pick<AgentMetrics, "store">;
  prices(): PriceBook;
  clock: Clock;
};

/** Points per export. */
const POINTS_MAX = 10_000;
/** Concurrent exports; each may briefly take some hundred megabytes of memory. */
const AT_ONCE_MAX = 16;
/** Points to process before yielding to other calls. */
const STRIDE = 250;

/**
 * Receives one export, from its bytes to the answer. Once this resolves, all accepted points are stored.
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

  // Parse, within limits
  requireJsonLimits(bytes);
  const series = readExport(bytes, POINTS_MAX);

  // Validate: each point is accepted and priced, or refused by metric name
  const book = deps.prices();
  const { teams, costCenter } = key;
  const owner = { keyId: key.id, owner: key.owner, teams, costCenter, receivedAt: now.toISOString() };
  const rows: AgentPointRow[] = [];
  const attributes = new Set<string>();
  const metrics = new Set<string>();
  const refused = rejectedPoints();
  const results = {
    accepted: (point: Point) => void rows.push({ ...point, ...owner, ...estimateCost(book, point) }),
    refused: (metric: string, reason: string, points: number) => {
      metrics.add(metric);
      refused.add(metric, reason, points);
    },
    dropped: (attribute: string) => void attributes.add(attribute),
  };
  const context = { keyId: key.id, nowMs: now.getTime() };
  await inTurns(series.map((one) => validatePoints(one, context, results)));

  // Store, with the names of dropped attributes and metrics
  const dropped = [...storable("attribute", attributes), ...storable("metric", metrics)];
  await deps.agentMetrics.store({ keyId: key.id, at: now, rows, dropped });
  return refused.summary();
}

/** Runs the generators to the end, yielding to other calls now and then. */
async function inTurns(work: readonly Generator<void>[]): Promise<void> {
  let steps = 0;
  for (const generator of work) {
    for (const _ of generator) {
      steps++;
      if (steps % STRIDE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Only names that can be stored: within the length limit and without control characters. */
const storable = <Kind extends "attribute" | "metric">(kind: Kind, names: ReadonlySet<string>) =>
  [...names].filter((name) => isSingleLine(name, NAME_LENGTH_MAX)).map((name) => ({ kind, name }));

/** The body of a 200 (spec, Metrics receiver 7); both members are always present. */
type PartialSuccess = { rejectedDataPoints: number; errorMessage: string };

/** Refusals listed in an answer; bounded, because a sender can make up any number of names. */
const LISTED_MAX = 50;

export function rejectedPoints(): { add: PointResults["refused"]; summary(): PartialSuccess } {
  const found = new Map<string, { metric: string; reason: string; points: number }>();
  let rejectedDataPoints = 0;
  return {
    add(metric, reason, points) {
      rejectedDataPoints += points;
      const name = `${reason} ${metric}`;
      const known = found.get(name);
      if (known) known.points += points;
      else found.set(name, { metric, reason, points });
    },
    summary() {
      const listed = [...found.values()].slice(0, LISTED_MAX).map(sentence);
      const more = found.size > LISTED_MAX ? [`and ${found.size - LISTED_MAX} more`] : [];
      return { rejectedDataPoints, errorMessage: [...listed, ...more].join("; ") };
    },
  };
}

const sentence = ({ metric, reason, points }: { metric: string; reason: string; points: number }): string =>
  `${isWithinLength(metric, NAME_LENGTH_MAX) ? metric : "(a name that is too long)"} ${reason} (${points} refused)`;

/** Longest name that is echoed or stored. */
const NAME_LENGTH_MAX = 128;
