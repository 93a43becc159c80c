import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { GuardrailTryResult } from "#shared/admin/guardrails.ts";
import { sendJson } from "../data/api.ts";
import { Foreign } from "../parts/foreign.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";

/** Which patterns and detectors match a text. The text is not stored. */
export function GuardrailTry() {
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
