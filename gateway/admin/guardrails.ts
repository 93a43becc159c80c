import {
  GuardrailBody,
  GuardrailPatch,
  GuardrailTry,
  GuardrailTryResult,
  GuardrailView,
} from "#shared/admin/guardrails.ts";
import { camelCased } from "#shared/case.ts";
import { viewAs } from "#shared/view-as.ts";
import { refuse } from "../errors.ts";
import { matchesText } from "../guardrail/evaluate.ts";
import { pace } from "../guardrail/pace.ts";
import { patternFault } from "../guardrail/pattern.ts";
import { textsOf } from "../guardrail/text.ts";
import { readJson } from "../plugins/body.ts";
import { deleteGuardrail, guardrailRows, newGuardrail } from "../stores/guardrails.ts";
import { patchedRow } from "../stores/rows.ts";
import { type AdminDeps, adminPart } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { namedResource } from "./named-resource.ts";

/** `/admin/v1/guardrails`: rules that refuse calls before anything goes to a provider. */
export const adminGuardrails = (deps: AdminDeps) =>
  namedResource(deps, {
    path: "guardrails",
    tag: "guardrails",
    nouns: { one: "a guardrail", many: "guardrails" },
    words: {
      list: { description: "Sorted by name. They apply in order of `position`, then of name." },
      create: {
        description:
          "It holds where all of `match` holds; with an empty `match`, on the routes that list it. The refusal is soft where `action` or the route's `refuse_with` is `soft_deny`, and 403 otherwise. With `mode: observe` it is only counted.",
      },
    },
    schemas: {
      body: GuardrailBody,
      patch: GuardrailPatch,
      view: GuardrailView,
    },
    store: { ...guardrailRows, remove: deleteGuardrail },
    audit: { set: "guardrail.set", deleted: "guardrail.deleted" },
    made: ({ name, body, now }) => newGuardrail(name, body, now),
    patched: ({ current, body, now }) => patchedRow(current, camelCased(body), now),
    checkBody: requireUsable,
    view: (row) => viewAs(GuardrailView, row),
  });

/** @throws GatewayError invalid_request for an invalid pattern, or an address that may not be called. */
async function requireUsable({ match, callout }: GuardrailPatch, deps: AdminDeps): Promise<void> {
  const pattern = match?.pattern === undefined ? null : patternFault(match.pattern);
  if (pattern !== null) refuse(`/match/pattern: ${pattern}.`);
  if (!callout) return;
  const { url, allow_private_network = false } = callout;
  const address = await deps.addressGuard.saveFault(url, allow_private_network);
  if (address !== null) refuse(`/callout/url: ${address}.`);
}

const docs = adminRoute("guardrails");

/** `POST /admin/v1/guardrails/try`: which guardrails match a text, before a call meets them. */
export const adminGuardrailTry = (deps: AdminDeps) =>
  adminPart(deps, "guardrails/try").post(
    "",
    async ({ request }): Promise<GuardrailTryResult> => {
      const { input } = await readJson(deps, request, GuardrailTry);
      const texts = textsOf([["input", input]]);
      const rules = deps.directory.current().guardrails.filter(({ pattern, detect }) => pattern ?? detect);
      const found = await Promise.all(
        rules.map((rule) => matchesText(rule, { texts: () => texts }, pace(deps.clock))),
      );
      return {
        matched: rules
          .filter((_, index) => found[index])
          .map(({ name, mode, action }) => ({ name, mode, action })),
      };
    },
    docs({
      summary: "Which guardrails match a text",
      description:
        "Tries patterns and detectors of all enabled guardrails. The text is not stored, and no service is asked.",
      body: GuardrailTry,
      answers: { 200: GuardrailTryResult },
    }),
  );
