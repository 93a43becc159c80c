import { asc } from "drizzle-orm";
import { ours } from "#drizzle/ours.ts";
import { guardrails } from "#drizzle/schema/guardrails.ts";
import type { Callout as StoredCallout } from "#shared/admin/guardrails.ts";
import { matchesGlob } from "#shared/glob.ts";
import type { Log } from "#shared/log.ts";
import type { Guardrail, GuardrailCallout, TextSearch } from "../../directory.ts";
import { detectorSearch } from "../../guardrail/detectors.ts";
import { compilePattern } from "../../guardrail/pattern.ts";
import type { Reader } from "../change.ts";
import type { GuardrailRow } from "../guardrails.ts";

/** The guardrails that are switched on, in the order in which they are tried. */
export const selectGuardrails = (reader: Reader): Promise<GuardrailRow[]> =>
  reader
    .select()
    .from(guardrails)
    .where(ours(guardrails, { enabled: true }))
    .orderBy(asc(guardrails.position), asc(guardrails.name));

/** The same, compiled. */
export const guardrailsOf = (rows: readonly GuardrailRow[], log: Log): Guardrail[] =>
  rows.map((row) => guardrailOf(row, log));

function guardrailOf({ name, mode, action, message, match, callout }: GuardrailRow, log: Log): Guardrail {
  const { models } = match;
  return {
    name,
    mode,
    action,
    message,
    tags: match.tags ?? null,
    keys: match.keys ?? null,
    routes: match.routes ?? null,
    clients: match.clients ?? null,
    fitsModel: models ? (model) => models.some((glob) => matchesGlob(glob, model)) : null,
    pattern: match.pattern === undefined ? null : searchOf(name, match.pattern, log),
    detect: match.detect?.map(detectorSearch) ?? null,
    callout: callout && calloutOf(callout),
  };
}

/** A stored pattern that compiles no longer finds everything: a rule that cannot be read must not let all pass. */
function searchOf(guardrail: string, pattern: string, log: Log): TextSearch {
  try {
    return compilePattern(pattern);
  } catch {
    log.error({ guardrail }, "stored pattern does not compile, so it matches every text");
    return { charactersMax: Number.MAX_SAFE_INTEGER, found: () => true };
  }
}

const calloutOf = ({
  url,
  timeout_ms,
  on_failure,
  allow_private_network = false,
}: StoredCallout): GuardrailCallout => ({
  url,
  timeoutMs: timeout_ms,
  onFailure: on_failure,
  allowPrivateNetwork: allow_private_network,
});
