import { readFileSync } from "node:fs";
import { Counter, type Registry } from "prom-client";
import { readGauge } from "#shared/metrics.ts";
import type { Places, Target } from "../call.ts";
import { GatewayError } from "../errors.ts";

/** Calls in flight at once: in this process, of one key, and at a provider without a limit of its own. */
export type InFlightMax = {
  process: number;
  perKey: number;
  perProvider: number;
  /** This process's part of a limit that is set for the gateway. */
  share: (calls: number) => number;
};

export type InFlight = {
  /** Takes a call's places in the process and of its key. @throws GatewayError overloaded */
  enter(keyId: string): Places;
};

/** Limits calls in flight. One too many is refused before its body is read: a queue would only make all late. */
export function openInFlight(max: InFlightMax, metrics: Registry): InFlight {
  const keys = createCounts();
  const providers = createCounts();
  let calls = 0;
  const facts = { name: "tallygate_calls_in_flight", help: "Model calls in flight." };
  readGauge(metrics, { ...facts, aggregator: "sum" }, () => calls);
  const refused = new Counter({
    name: "tallygate_calls_overloaded_total",
    help: "Model calls refused because of the limit on calls in flight of the gateway, a key or a provider.",
    labelNames: ["limit"],
    registers: [metrics],
  });
  const refusal = (limit: keyof typeof MESSAGES) => {
    refused.inc({ limit });
    return new GatewayError("overloaded", MESSAGES[limit]);
  };
  const hasRoom = ({ provider }: Target) =>
    providers.count(provider.name) <
    (provider.inFlightMax == null ? max.perProvider : max.share(provider.inFlightMax));

  return {
    enter(keyId) {
      if (calls >= max.process) throw refusal("gateway");
      if (keys.count(keyId) >= max.perKey) throw refusal("key");
      calls += 1;
      keys.add(keyId, 1);
      let provider: string | null = null;
      let isReleased = false;
      return {
        refusedAt(targets) {
          const target = targets.find(hasRoom);
          if (!target) return refusal("provider");
          provider = target.provider.name;
          providers.add(provider, 1);
          return null;
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          calls -= 1;
          keys.add(keyId, -1);
          if (provider !== null) providers.add(provider, -1);
        },
      };
    },
  };
}

const MESSAGES = {
  gateway: "The gateway has reached its limit of calls in flight. Send the request again later.",
  key: "The key has reached this gateway's limit of calls in flight. Send the request again later.",
  provider: "The provider has reached its limit of calls in flight. Send the request again later.",
} as const;

function createCounts() {
  const counts = new Map<string, number>();
  return {
    count: (name: string) => counts.get(name) ?? 0,
    add(name: string, by: number): void {
      const next = (counts.get(name) ?? 0) + by;
      if (next > 0) counts.set(name, next);
      else counts.delete(name);
    },
  };
}

const CALLS_MAX = 10_000;
/** Files and connections that are not those of calls. */
const FILES_KEPT = 200;
/** A call has one connection to the client and one to the provider. */
const FILES_PER_CALL = 2;

/** As many calls as the limit on open files allows, and no more than 10,000. */
export function defaultCallsMax(
  limits: () => string = () => readFileSync("/proc/self/limits", "utf8"),
): number {
  try {
    const files = Number(/^Max open files\s+(\d+)/m.exec(limits())?.[1] ?? Number.POSITIVE_INFINITY);
    return Math.max(1, Math.min(CALLS_MAX, Math.floor((files - FILES_KEPT) / FILES_PER_CALL)));
  } catch {
    return CALLS_MAX;
  }
}

type InFlightSettings = { [name in "process" | "perKey" | "perProvider"]: number | undefined };

/**
 * The settings, with their defaults: one key or provider alone leaves a tenth of the places to others. `share`: this
 * process's part of what is set for the gateway. Open files are limited for each process.
 */
export function inFlightMaxOf(set: InFlightSettings, share: (calls: number) => number): InFlightMax {
  const shareOf = (calls: number | undefined) => (calls === undefined ? undefined : share(calls));
  const process = shareOf(set.process) ?? defaultCallsMax();
  const most = Math.ceil(process * 0.9);
  return {
    process,
    perKey: shareOf(set.perKey) ?? most,
    perProvider: shareOf(set.perProvider) ?? most,
    share,
  };
}
