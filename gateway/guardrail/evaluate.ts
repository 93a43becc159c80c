import type { CallLabels, Choice } from "../call.ts";
import type { ClientKey, Guardrail } from "../directory.ts";
import type { Pace } from "./pace.ts";
import { searchTexts } from "./search.ts";

/** What is known of a call when it is judged. */
export type GuardrailInput = {
  key: Pick<ClientKey, "id" | "name">;
  labels: Pick<CallLabels, "client" | "tags">;
  choice: Pick<Choice, "route" | "routeName" | "targets">;
  /** Models that the body asks for besides; null: one that the provider chooses. Asked for only where a rule is about models. */
  additionalModels(): readonly (string | null)[];
  /** The request's decoded texts; asked for only where a rule reads them. */
  texts(): readonly string[];
};

/** What a service that was asked says of a call; null lets it go on. */
export type Objection = { message: string | null };

export type GuardrailTools = {
  pace: Pace;
  /** Asks a rule's service. Never rejects: a failure is an answer as the rule says. */
  consult(rule: Guardrail, judged: GuardrailInput): Promise<Objection | null>;
};

/** Rules that held and are only observed are told beside what was decided. */
export type GuardrailVerdict = { observed: readonly string[] } & (
  | {
      kind: "pass";
      /** The first that was observed. */
      rule: string | null;
    }
  | {
      kind: "block" | "soft_deny";
      /** The rule that decided. */
      rule: string;
      /** What the client is told; null: the product's own sentence. */
      message: string | null;
    }
);

/**
 * The first rule that holds decides. A rule holds where all that it asks for holds; one that asks for nothing holds
 * only on the routes that list it. A refusal is soft where the rule or the route says so.
 */
export async function evaluateGuardrails(
  rules: readonly Guardrail[],
  judged: GuardrailInput,
  tools: GuardrailTools,
): Promise<GuardrailVerdict> {
  const observed: string[] = [];
  for (const rule of rules) {
    const objection = await objectionOf(rule, judged, tools);
    if (!objection) continue;
    if (rule.mode === "observe") {
      observed.push(rule.name);
      continue;
    }
    const soft = rule.action === "soft_deny" || judged.choice.route?.refuseWith === "soft_deny";
    return {
      kind: soft ? "soft_deny" : "block",
      message: objection.message ?? rule.message,
      rule: rule.name,
      observed,
    };
  }
  return { kind: "pass", rule: observed[0] ?? null, observed };
}

const OBJECTION: Objection = { message: null };

async function objectionOf(
  rule: Guardrail,
  judged: GuardrailInput,
  tools: GuardrailTools,
): Promise<Objection | null> {
  if (!matchesCall(rule, judged) || !(await matchesText(rule, judged, tools.pace))) return null;
  return rule.callout ? await tools.consult(rule, judged) : OBJECTION;
}

function matchesCall(
  rule: Guardrail,
  { key, labels, choice, additionalModels: beside }: GuardrailInput,
): boolean {
  if (isUnconditional(rule)) return choice.route?.guardrails.includes(rule.name) ?? false;
  return (
    hasOne(rule.tags, labels.tags) &&
    hasOne(rule.keys, [key.id, key.name]) &&
    hasOne(rule.routes, [choice.routeName]) &&
    hasOne(rule.clients, [labels.client]) &&
    (rule.fitsModel === null ||
      isOne(rule.fitsModel, [...choice.targets.map(({ model }) => model), ...beside()]))
  );
}

const isOne = (fits: (model: string) => boolean, models: readonly (string | null)[]): boolean =>
  models.some((model) => model !== null && fits(model));

const hasOne = (asked: readonly string[] | null, given: readonly string[]): boolean =>
  asked === null || given.some((it) => asked.includes(it));

const isUnconditional = (rule: Guardrail): boolean =>
  [rule.tags, rule.keys, rule.routes, rule.clients, rule.fitsModel, rule.pattern, rule.detect].every(
    (asked) => asked === null,
  );

async function matchesText(
  { pattern, detect }: Guardrail,
  judged: GuardrailInput,
  pace: Pace,
): Promise<boolean> {
  if (pattern && !(await searchTexts(pattern, judged.texts(), pace))) return false;
  if (!detect) return true;
  for (const search of detect) {
    if (await searchTexts(search, judged.texts(), pace)) return true;
  }
  return false;
}
