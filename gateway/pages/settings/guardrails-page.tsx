import type { GuardrailTryResult, GuardrailView } from "#shared/admin/guardrails.ts";
import { number, onOff, text } from "../parts/columns.tsx";
import { Foreign } from "../parts/values.tsx";
import { codeWords } from "../parts/words.ts";
import { GUARDRAIL } from "./forms/call-forms.ts";
import { fieldAt } from "./forms/field.ts";
import { type ResourceFacts, ResourcePage } from "./resource-panel.tsx";
import { TryPanel } from "./try-panel.tsx";

/** Conditions without entries do not limit, so the body leaves them out. */
const conditions = ({ match }: GuardrailView): string =>
  Object.entries(match)
    .map(([name, value]) => {
      const words = name === "detect" ? match.detect?.map(codeWords) : value;
      return `${fieldAt(GUARDRAIL.fields, ["match", name])?.label}: ${[words].flat().join(", ")}`;
    })
    .join("; ");

const FACTS: ResourceFacts<GuardrailView> = {
  path: "/admin/v1/guardrails",
  title: "Guardrails",
  noun: "guardrail",
  columns: {
    name: text("Name", ({ name }) => name),
    position: number("Position", ({ position }) => position),
    mode: text("Mode", ({ mode }) => mode),
    match: text("Matches", conditions, "routes that list it"),
    action: text("Action", ({ action }) => codeWords(action)),
    enabled: onOff(({ enabled }) => enabled),
  },
  pick: (all) => all.toSorted((a, b) => a.position - b.position || (a.name < b.name ? -1 : 1)),
  form: GUARDRAIL,
  empty: "A guardrail refuses calls before anything goes to a provider.",
  removal: { verb: "Delete", effect: "It is no longer applied." },
};

/** Rules that refuse calls, and a place to try a text on them. */
export const GuardrailsPage = () => (
  <>
    <ResourcePage facts={FACTS} />
    <GuardrailTry />
  </>
);

const GuardrailTry = () => (
  <TryPanel<GuardrailTryResult>
    path="/admin/v1/guardrails/try"
    sub="Which enabled guardrails have a pattern or a detector that matches it. Nothing is stored."
    action="Try"
  >
    {({ matched }) =>
      matched.length === 0 ? (
        <p>No guardrail matches this text.</p>
      ) : (
        <ul>
          {matched.map(({ name, mode, action }) => (
            <li key={name}>
              <Foreign text={name} />{" "}
              {mode === "observe" ? "counts it" : action === "block" ? "refuses it" : "refuses it softly"}
            </li>
          ))}
        </ul>
      )
    }
  </TryPanel>
);
