import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { GuardrailTryResult, GuardrailView } from "#shared/admin/guardrails.ts";
import { sendJson } from "../data/api.ts";
import { Foreign } from "../parts/foreign.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { switchColumn, textColumn } from "./cells.tsx";
import { GUARDRAIL } from "./forms/call-forms.ts";
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

/** Which patterns and detectors match a text. The text is not stored. */
function GuardrailTry() {
  const [text, setText] = useState("");
  const attempt = useMutation({
    mutationFn: (input: string) =>
      sendJson<GuardrailTryResult>("/admin/v1/guardrails/try", { method: "POST", body: { input } }),
  });
  return (
    <Panel
      title="Try a text"
      sub="Which enabled guardrails have a pattern or a detector that matches it. Nothing is stored."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate(text);
        }}
      >
        <Textarea
          label="Text"
          rows={3}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          required
          mb="sm"
        />
        <Button type="submit" loading={attempt.isPending}>
          Try
        </Button>
      </form>
      {attempt.error && <Fault error={attempt.error} />}
      {attempt.data && (
        <div role="status">
          {attempt.data.matched.length === 0 ? (
            <p>No guardrail matches this text.</p>
          ) : (
            <ul>
              {attempt.data.matched.map(({ name, mode, action }) => (
                <li key={name}>
                  <Foreign text={name} />{" "}
                  {mode === "observe" ? "counts it" : action === "block" ? "refuses it" : "refuses it softly"}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Panel>
  );
}
