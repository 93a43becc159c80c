import type { Prompt } from "./prompt.ts";
import type { ReplyStep } from "./reply.ts";

const LENGTH_MAX = 64;
/** Tool names that every provider accepts. */
const FITS = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The name itself if it fits, else a shorter one that is always the same for the same name. */
function fittingName(name: string): string {
  if (FITS.test(name)) return name;
  const hash = Bun.hash(name).toString(36);
  const start = name.replace(/^[^A-Za-z_]|[^A-Za-z0-9_-]/g, "_").slice(0, LENGTH_MAX - 1 - hash.length);
  return `${start}_${hash}`;
}

/** An id itself if it is short enough, else a shorter one that is always the same for the same id. */
export const fittingId = (id: string, lengthMax: number): string =>
  id.length <= lengthMax ? id : `${id.slice(0, lengthMax - 14)}_${Bun.hash(id).toString(36)}`;

/** Replaces tool names that some providers refuse, and returns the replaced ones by their replacements. */
export function fitToolNames(prompt: Prompt): ReadonlyMap<string, string> {
  const replaced = new Map<string, string>();
  const fit = (named: { name: string }) => {
    const name = fittingName(named.name);
    if (name === named.name) return;
    replaced.set(name, named.name);
    named.name = name;
  };
  for (const tool of prompt.tools) fit(tool);
  if (prompt.toolChoice?.value.kind === "tool") fit(prompt.toolChoice.value);
  for (const { parts } of prompt.turns) {
    for (const part of parts) if (part.kind === "call") fit(part);
  }
  return replaced;
}

/** The step with the tool's own name. */
export function withOwnName(step: ReplyStep, replaced: ReadonlyMap<string, string>): ReplyStep {
  if (step.kind !== "open" || step.block.kind !== "call") return step;
  const name = replaced.get(step.block.name);
  return name === undefined ? step : { ...step, block: { ...step.block, name } };
}
