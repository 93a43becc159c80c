import type { Clock } from "#shared/clock.ts";
import type { Provider } from "../directory.ts";
import type { WireName } from "../surface-facts.ts";

/** Vendors add addresses: after this time what was refused is tried again. */
const AGE_MS = 24 * 60 * 60 * 1000;
/** Clients choose the model names. */
const LEARNED_MAX = 1_000;

/** A wire that a provider refused for a model, or a member of translated requests (translate/wishes.ts). */
type Learned = { provider: string; model: string; lacks: string; learnedAtMs: number };
type At = Pick<Provider, "name" | "baseUrl">;

/** What refusals taught this process: wires and members that providers lack for models, in memory. */
export type LearnedWires = {
  lacks(provider: At, model: string | null, wire: WireName): boolean;
  learn(provider: At, model: string, lacks: string): void;
  /** All that a model lacks, in the order in which it was learned. */
  lackedBy(provider: At, model: string): string[];
  /** Of one provider. */
  of(provider: string): Omit<Learned, "provider">[];
};

export function learnedWires(clock: Clock): LearnedWires {
  /** By provider, address and model, then by what is lacking. */
  const learned = new Map<string, Map<string, Learned>>();
  let size = 0;
  const keyOf = ({ name, baseUrl }: At, model: string) => JSON.stringify([name, baseUrl, model]);
  const isFresh = ({ learnedAtMs }: Learned) => clock.now().getTime() - learnedAtMs < AGE_MS;
  return {
    lacks(provider, model, wire) {
      if (size === 0 || model === null) return false;
      const found = learned.get(keyOf(provider, model))?.get(wire);
      return found !== undefined && isFresh(found);
    },
    learn(provider, model, lacks) {
      if (++size > LEARNED_MAX) {
        learned.clear();
        size = 1;
      }
      const key = keyOf(provider, model);
      const learnt = { provider: provider.name, model, lacks, learnedAtMs: clock.now().getTime() };
      learned.set(key, (learned.get(key) ?? new Map()).set(lacks, learnt));
    },
    lackedBy(provider, model) {
      const found = size === 0 ? [] : [...(learned.get(keyOf(provider, model))?.values() ?? [])];
      return found.filter(isFresh).map(({ lacks }) => lacks);
    },
    of: (name) =>
      [...learned.values()].flatMap((of) =>
        [...of.values()].flatMap((one) => {
          const { provider, ...rest } = one;
          return provider === name && isFresh(one) ? [rest] : [];
        }),
      ),
  };
}
