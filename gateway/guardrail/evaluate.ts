import type { CallLabels, Choice } from "../call.ts";
import type { ClientKey, Guardrail } from "../directory.ts";
import type { Pace } from "./pace.ts";
import { searchTexts } from "./search.ts";

export type GuardrailInput = {
  key: Pick<ClientKey, "id" | "name">;
  labels: Pick<CallLabels, "client" | "tags">;
  choice: Pick<Choice, "route" | "routeName" | "targets">;
  /** Models that the body names besides `model`; null: the provider chooses. Called only if a rule matches models. */
  additionalModels(): readonly (string | null)[];
  /** The request's decoded texts. Called only if a rule reads them. */
  texts(): readonly string[];
};

/** A refusal by a rule or its service. */
export type Objection = { message: string | null };

export type GuardrailTools = {
  pace: Pace;
  /** Calls a rule's service. Never rejects: the rule defines what a failure means. */
  consult(rule: Guardrail, input: GuardrailInput): Promise<Objection | null>;
};

/** `observed`: rules in observe mode that matched. */
export type GuardrailVerdict = { observed: readonly string[] } & (
  | {
      kind: "pass";
      /** The first observed rule. */
      rule: string | null;
    }
  | {
      kind: "block" | "soft_deny";
      rule: string;
      /** Message for the client; null: the default. */
      message: string | null;
    }
);

/**
 * The first rule that matches decides. A rule matches if all its conditions do; a rule without conditions matches only
 * on routes that list it. A refusal is soft if the rule or the route says so.
 */
export async function evaluateGuardrails(
  rules: readonly Guardrail[],
  input: GuardrailInput,
  tools: GuardrailTools,
): Promise<GuardrailVerdict> {
  const observed: string[] = [];
  for (const rule of rules) {
    const objection = await objectionOf(rule, input, tools);
    if (!objection) continue;
    if (rule.mode === "observe") {
      observed.push(rule.name);
      continue;
    }
    const soft = rule.action === "soft_deny" || input.choice.route?.refuseWith === "soft_deny";
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
  input: GuardrailInput,
  tools: GuardrailTools,
): Promise<Objection | null> {
  if (!matchesCall(rule, input) || !(await matchesText(rule, input, tools.pace))) return null;
  return rule.callout ? await tools.consult(rule, input) : OBJECTION;
}

function matchesCall(rule: Guardrail, { key, labels, choice, additionalModels }: GuardrailInput): boolean {
  if (isUnconditional(rule)) return choice.route?.guardrails.includes(rule.name) ?? false;
  return (
    hasOne(rule.tags, labels.tags) &&
    hasOne(rule.keys, [key.id, key.name]) &&
    hasOne(rule.routes, [choice.routeName]) &&
    hasOne(rule.clients, [labels.client]) &&
    (rule.fitsModel === null ||
      isOne(rule.fitsModel, [...choice.targets.map(({ model }) => model), ...additionalModels()]))
  );
}

const isOne = (fits: (model: string) => boolean, models: readonly (string | null)[]): boolean =>
  models.some((model) => model !== null && fits(model));

const hasOne = (wanted: readonly string[] | null, given: readonly string[]): boolean =>
  wanted === null || given.some((it) => wanted.includes(it));

const isUnconditional = (rule: Guardrail): boolean =>
  [rule.tags, rule.keys, rule.routes, rule.clients, rule.fitsModel, rule.pattern, rule.detect].every(
    (condition) => condition === null,
  );

async function matchesText(
  { pattern, detect }: Guardrail,
  input: GuardrailInput,
  pace: Pace,
): Promise<boolean> {
  if (pattern && !(await searchTexts(pattern, input.texts(), pace))) return false;
  if (!detect) return true;
  for (const search of detect) {
    if (await searchTexts(search, input.texts(), pace)) return true;
  }
  return false;
}
