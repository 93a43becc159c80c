import { counted } from "#shared/plural.ts";
import type { Change, PlanStep } from "./plan.ts";

const SIGNS = { create: "+", change: "~", keep: "=" } as const;
const VALUE_LENGTH_MAX = 120;

/** A step for display; unchanged resources take one line. Contains no secrets. */
export function stepText(step: PlanStep): string {
  const head = `${SIGNS[step.action]} ${titleOf(step)}`;
  const lines = step.action === "keep" ? [] : step.changes.map((change) => changeLine(step, change));
  const resent = step.resent.map(
    (member) => `    ${member}: ${secretOf(step, member)}, sent again because it cannot be compared`,
  );
  return [head, ...lines, ...resent].join("\n");
}

export const titleOf = ({ declared: { kind, name } }: PlanStep): string =>
  name === "" ? kind : `${kind} ${name}`;

/** The plan's totals in one line, before or after it is applied. */
export function planSummary(steps: readonly PlanStep[], isDone: boolean): string {
  const count = (action: PlanStep["action"]) => steps.filter((step) => step.action === action).length;
  const resent = steps.reduce((sum, { resent: secrets }) => sum + secrets.length, 0);
  const [create, change, send] = isDone
    ? ["created", "changed", "sent again"]
    : ["to create", "to change", "to send again"];
  const sum = `${count("create")} ${create}, ${count("change")} ${change}, ${count("keep")} as declared`;
  return resent > 0 ? `${sum}; ${counted(resent, "secret")} ${send}` : sum;
}

function changeLine(step: PlanStep, { member, from, to }: Change): string {
  const shown = variablesOf(step, member).length > 0 ? secretOf(step, member) : valueText(to);
  const before = step.action === "create" ? "" : `${valueText(from)} → `;
  return `    ${member}: ${before}${shown}`;
}

const secretOf = (step: PlanStep, member: string): string => `(from ${variablesOf(step, member).join(", ")})`;

const variablesOf = ({ declared }: PlanStep, member: string): string[] =>
  [...declared.fromEnv]
    .filter(([at]) => at === member || at.startsWith(`${member}/`))
    .map(([, name]) => name);

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value ?? null) ?? "null");
  const line = text.replaceAll("\n", "⏎");
  return line.length > VALUE_LENGTH_MAX ? `${line.slice(0, VALUE_LENGTH_MAX)}…` : line;
}
