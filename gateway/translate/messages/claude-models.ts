/** Facts about models that requests in the messages format need and that no answer of the vendor contains. */
export type ClaudeFacts = {
  /** Most tokens that one answer may have. */
  outputTokensMax: number;
  /** Reasons by a budget of tokens; newer ones by an effort. */
  budgeted: boolean;
  schemas: boolean;
  /** Continues an answer that the client began. */
  prefill?: false;
};

/** By the beginning of the name; the first that fits counts. Source: the vendor's model overview. */
const MODELS: readonly [name: RegExp, facts: ClaudeFacts][] = [
  [/^claude-3-(haiku|opus|sonnet)\b/, { outputTokensMax: 4_096, budgeted: true, schemas: false }],
  [/^claude-3-5-/, { outputTokensMax: 8_192, budgeted: true, schemas: false }],
  [/^claude-3-7-/, { outputTokensMax: 64_000, budgeted: true, schemas: false }],
  [/^claude-opus-4(-[01])?(-20\d{6})?$/, { outputTokensMax: 32_000, budgeted: true, schemas: false }],
  [/^claude-sonnet-4(-0)?(-20\d{6})?$/, { outputTokensMax: 64_000, budgeted: true, schemas: false }],
  [/^claude-(sonnet|haiku|opus)-4-5(-20\d{6})?$/, { outputTokensMax: 64_000, budgeted: true, schemas: true }],
  [/^claude-/, { outputTokensMax: 64_000, budgeted: false, schemas: true, prefill: false }],
];

/** Every model with this format accepts that much. */
const ANY: ClaudeFacts = { outputTokensMax: 8_192, budgeted: true, schemas: false };

/** A name with what clouds write around it taken off: `eu.anthropic.claude-…-v1:0`, and a date after `@`. */
const plainName = (model: string): string =>
  model
    .replace(/^(?:[a-z-]+\.)*anthropic\./, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace("@", "-");

export const claudeFacts = (model: string): ClaudeFacts => {
  const name = plainName(model);
  return MODELS.find(([beginning]) => beginning.test(name))?.[1] ?? ANY;
};
