import type { Material } from "./material.ts";
import type { Passes } from "./softmax.ts";

/** Up to this many examples a route are few: what a fold leaves out is missed, and there is time to look again. */
const FEW_EXAMPLES = 20;

/** Whether the routes that have examples have few of them. */
export function hasFew({ samples }: Pick<Material, "samples">): boolean {
  const own = samples.filter(({ source }) => source === "example");
  const routes = new Set(own.map(({ label }) => label)).size;
  return own.length > 0 && own.length <= FEW_EXAMPLES * routes;
}

/** How many parts of the examples are held out in turn. */
export const foldsFor = (few: boolean): number => (few ? 10 : 5);

/**
 * How often training goes over routes that are kinds of task. They learn beside thousands of built-in examples: more
 * passes for the model fit those, not the routes.
 */
export const taskPasses = (few: boolean): Passes => ({ full: 7, fold: few ? 10 : 3 });
