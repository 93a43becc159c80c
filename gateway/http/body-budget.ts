import type { Registry } from "prom-client";
import { readGauge } from "#shared/metrics.ts";
import { GatewayError } from "../errors.ts";

/** One call's share of the memory for bodies. */
export type BodyHold = {
  /** Takes `bytes` more. @throws GatewayError bodies_too_many */
  take(bytes: number): void;
  /** Counts `bytes` more that are in memory already. */
  add(bytes: number): void;
  /** Gives everything back; does nothing the second time. */
  release(): void;
};

export type BodyBudget = {
  hold(): BodyHold;
  /** Bytes taken now. */
  used(): number;
};

/** The memory for bodies in this process, until their calls end. One call alone passes: it has limits of its own. */
export function bodyBudget(bytesMax: number): BodyBudget {
  let used = 0;
  return {
    used: () => used,
    hold() {
      let held = 0;
      let released = false;
      const add = (bytes: number) => {
        if (released) return;
        held += bytes;
        used += bytes;
      };
      return {
        take(bytes) {
          if (used > held && used + bytes > bytesMax) throw new GatewayError("bodies_too_many");
          add(bytes);
        },
        add,
        release() {
          used -= held;
          held = 0;
          released = true;
        },
      };
    },
  };
}

/** Runs `work` with a hold that is given back when it ends. */
export async function holding<T>(budget: BodyBudget, work: (hold: BodyHold) => Promise<T>): Promise<T> {
  const hold = budget.hold();
  try {
    return await work(hold);
  } finally {
    hold.release();
  }
}

/** A budget whose use is a metric. */
export function meteredBodyBudget(bytesMax: number, registry: Registry): BodyBudget {
  const budget = bodyBudget(bytesMax);
  const help = "Memory that the bodies of calls in flight take.";
  readGauge(registry, { name: "tallygate_body_bytes_in_flight", help, aggregator: "sum" }, budget.used);
  return budget;
}
