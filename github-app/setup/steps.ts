import type { AppStatus } from "./app-status.ts";

export type StepName = "reachable" | "made" | "installed" | "measuring";
/** One of the four steps from nothing to figures; it ticks itself as soon as it is true. */
export type Step = { name: StepName; done: boolean; current: boolean };

type Facts = Pick<AppStatus, "app" | "receives" | "reachedAt" | "stamping" | "installations">;

/** Prerequisites of each step: an App can only be reached once it is made. */
const ORDER: readonly StepName[] = ["made", "reachable", "installed", "measuring"];
const SHOWN: readonly StepName[] = ["reachable", "made", "installed", "measuring"];

/** The four steps; the first that is not done is the current one. */
export function stepsOf({ app, receives, reachedAt, installations, stamping }: Facts): Step[] {
  const done: Record<StepName, boolean> = {
    reachable: reachedAt !== null,
    made: app !== null || receives,
    // A webhook without an App is installed where it was made.
    installed: installations.some(({ state }) => state === "active") || (app === null && reachedAt !== null),
    measuring: stamping,
  };
  const current = ORDER.find((name) => !done[name]);
  return SHOWN.map((name) => ({ name, done: done[name], current: name === current }));
}
