import type { Clock } from "#shared/clock.ts";
import type { Provider } from "../directory.ts";
import type { WireName } from "../surface-facts.ts";

/** Vendors add addresses: after this time a wire is tried again. */
const AGE_MS = 24 * 60 * 60 * 1000;
/** Clients choose the model names. */
const LEARNED_MAX = 1_000;

/** A wire that a provider refused for a model. */
type Learned = { provider: string; model: string; lacks: WireName; learnedAtMs: number };
type At = Pick<Provider, "name" | "baseUrl">;

/** What refusals taught this process: wires that providers lack for models, in memory. */
export type LearnedWires = {
  lacks(provider: At, model: string | null, wire: WireName): boolean;
  learn(provider: At, model: string, wire: WireName): void;
  /** Of one provider, oldest first. */
  of(provider: string): Omit<Learned, "provider">[];
};

export function learnedWires(clock: Clock): LearnedWires {
  const learned = new Map<string, Learned>();
  const keyOf = ({ name, baseUrl }: At, model: string, wire: WireName) =>
    JSON.stringify([name, baseUrl, model, wire]);
  const nowMs = () => clock.now().getTime();
  const isOld = ({ learnedAtMs }: Learned) => nowMs() - learnedAtMs >= AGE_MS;
  return {
    lacks(provider, model, wire) {
      if (learned.size === 0 || model === null) return false;
      const found = learned.get(keyOf(provider, model, wire));
      return found !== undefined && !isOld(found);
    },
    learn(provider, model, wire) {
      if (learned.size >= LEARNED_MAX) learned.clear();
      learned.set(keyOf(provider, model, wire), {
        provider: provider.name,
        model,
        lacks: wire,
        learnedAtMs: nowMs(),
      });
    },
    of: (name) =>
      [...learned.values()].flatMap((one) => {
        const { provider, ...rest } = one;
        return provider === name && !isOld(one) ? [rest] : [];
      }),
  };
}
