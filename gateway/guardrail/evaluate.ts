import type { CallLabels, Choice } from "../call.ts";
import type { ClientKey, Guardrail } from "../directory.ts";
import type { Pace } from "./pace.ts";
import { searchTexts } from "./search.ts";

export type GuardrailInput = {
  key: Pick<ClientKey, "id" | "name">;
  labels: Pick<CallLabels, "client" | "tags">;
  /** Null: the call of a tool, which has no route and no model. */
  choice: Pick<Choice, "route" | "routeName" | "targets"> | null;
  /** The tool that is called, if one is. */
  tool?: { server: string; name: string };
  /** The call goes to an address of a vendor's whose body no rule can read; absent: no. */
  passedThrough?: boolean;
  /** Models that the body names besides `model`; null: the provider chooses. Called only if a rule matches models. */
  additionalModels(): readonly (string | null)[];
  /** The request's decoded texts. Called only if a rule reads them. */
  texts(): readonly string[];
  /** Whether a text is given as token ids, which cannot be decoded here. Called only if a rule reads texts. */
  tokenIds?(): boolean;
};

export type ModelCallInput = GuardrailInput & { choice: NonNullable<GuardrailInput["choice"]> };

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
    const isSoft = rule.action === "soft_deny" || input.choice?.route?.refuseWith === "soft_deny";
    return {
      kind: isSoft && !input.passedThrough ? "soft_deny" : "block",
      message: objection.message ?? rule.message,
      rule: rule.name,
      observed,
    };
  }
  return { kind: "pass", rule: observed[0] ?? null, observed };
}

const OBJECTION: Objection = { message: null };
/** What cannot be read counts as a match: it must not get past a rule. */
const UNREADABLE: Objection = {
  message: "The text is given as token ids, which a guardrail cannot read. Send it as text.",
};

const PASSED_THROUGH: Objection = {
  message: "A guardrail applies, which cannot read calls of a vendor's own addresses.",
};

async function objectionOf(
  rule: Guardrail,
  input: GuardrailInput,
  tools: GuardrailTools,
): Promise<Objection | null> {
  if (!matchesCall(rule, input)) return null;
  if (input.passedThrough && rule.mode === "enforce") return PASSED_THROUGH;
  const found = await matchesText(rule, input, tools.pace);
  if (!found && !input.tokenIds?.()) return null;
  if (rule.callout) return await tools.consult(rule, input);
  return found ? OBJECTION : UNREADABLE;
}

function matchesCall(rule: Guardrail, input: GuardrailInput): boolean {
  const { key, labels, choice, additionalModels, passedThrough } = input;
  const models = choice?.targets.map(({ model }) => model) ?? [];
  if (isUnconditional(rule)) return choice?.route?.guardrails.includes(rule.name) ?? false;
  return (
    hasOne(rule.tags, labels.tags) &&
    hasOne(rule.keys, [key.id, key.name]) &&
    hasOne(rule.routes, choice ? [choice.routeName] : []) &&
    hasOne(rule.clients, [labels.client]) &&
    (rule.fitsModel === null ||
      (passedThrough === true && models.includes(null)) ||
      isOne(rule.fitsModel, [...models, ...additionalModels()]))
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

/** Whether a rule's pattern and detectors, where it has them, match the texts. */
export async function matchesText(
  { pattern, detect }: Pick<Guardrail, "pattern" | "detect">,
  input: Pick<GuardrailInput, "texts">,
  pace: Pace,
): Promise<boolean> {
  if (pattern && !(await searchTexts(pattern, input.texts(), pace))) return false;
  if (!detect) return true;
  for (const search of detect) {
    if (await searchTexts(search, input.texts(), pace)) return true;
  }
  return false;
}
