import type { GuardrailView } from "#shared/admin/guardrails.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import type { Field } from "./fields.ts";
import { GuardrailTry } from "./guardrail-try.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

const FIELDS: readonly Field[] = [
  { name: "name", label: "Name", kind: "text", required: true, createOnly: true },
  {
    name: "position",
    label: "Position",
    kind: "integer",
    initial: "100",
    help: "Lower ones are tried first; the first match decides.",
  },
  {
    name: "mode",
    label: "Mode",
    kind: "choice",
    options: ["enforce", "observe"],
    initial: "observe",
    help: "observe only counts matches.",
  },
  { name: "action", label: "Action", kind: "choice", options: ["block", "soft_deny"], initial: "block" },
  {
    name: "match.pattern",
    label: "Pattern",
    kind: "text",
    help: "An RE2 expression, tried against every text that a model may read.",
  },
  {
    name: "match.detect",
    label: "Detectors",
    kind: "lines",
    help: "email, phone, iban, payment_card, national_id, api_key, private_key; one a line.",
  },
  { name: "match.models", label: "Models", kind: "lines", help: "Globs, one a line." },
  { name: "match.routes", label: "Routes", kind: "lines" },
  { name: "match.tags", label: "Tags", kind: "lines" },
  { name: "match.keys", label: "Keys", kind: "lines", help: "Ids or names." },
  { name: "match.clients", label: "Clients", kind: "lines" },
  {
    name: "message",
    label: "Message",
    kind: "area",
    nullable: true,
    help: "What the caller is told. Empty: the default.",
  },
  { name: "enabled", label: "Enabled", kind: "switch", initial: true },
];

/** Conditions without entries do not limit, so the body leaves them out. */
const conditions = ({ match }: GuardrailView): string =>
  Object.entries(match)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : value}`)
    .join("; ");

const FACTS: ResourceFacts<GuardrailView> = {
  path: "/admin/v1/guardrails",
  title: "Guardrails",
  noun: "guardrail",
  idOf: ({ name }) => name,
  nameOf: ({ name }) => name,
  columns: [
    textColumn("name", "Name", { of: ({ name }) => name }),
    textColumn("position", "Position", { of: ({ position }) => String(position) }),
    textColumn("mode", "Mode", { of: ({ mode }) => mode }),
    textColumn("match", "Matches", { of: conditions, none: "routes that list it" }),
    textColumn("action", "Action", { of: ({ action }) => action.replaceAll("_", " ") }),
    switchColumn(({ enabled }) => enabled),
  ],
  fields: FIELDS,
  empty: "A guardrail refuses calls before anything goes to a provider.",
  removal: { verb: "Delete", effect: "It is no longer applied." },
};

/** Rules that refuse calls, and a place to try a text on them. */
export const GuardrailsPage = () => (
  <>
    <PageHead title="Guardrails" />
    <ResourcePanel facts={FACTS} />
    <GuardrailTry />
  </>
);
