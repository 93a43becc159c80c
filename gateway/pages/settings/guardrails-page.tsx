import type { GuardrailView } from "#shared/admin/guardrails.ts";
import { PageHead } from "../parts/page-head.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { GUARDRAIL } from "./forms/call-forms.ts";
import { GuardrailTry } from "./guardrail-try.tsx";
import { type ResourceFacts, ResourcePanel } from "./resource-panel.tsx";

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
  form: GUARDRAIL,
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
