import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { sendJson } from "../data/api.ts";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";

type TryPanelProps<Answer> = {
  /** Takes `input` and stores nothing. */
  path: string;
  sub: string;
  action: string;
  children: (answer: Answer, text: string) => ReactNode;
};

/** Tries a text as calls would be. */
export function TryPanel<Answer>({ path, sub, action, children }: TryPanelProps<Answer>) {
  const [text, setText] = useState("");
  const attempt = useMutation({
    mutationFn: (input: string) => sendJson<Answer>(path, { method: "POST", body: { input } }),
  });
  return (
    <Panel title="Try a text" sub={sub}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate(text);
        }}
      >
        <Textarea
          label="Text"
          rows={4}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          required
          mb="sm"
        />
        <Button variant="filled" type="submit" loading={attempt.isPending}>
          {action}
        </Button>
      </form>
      {attempt.error && <Fault error={attempt.error} />}
      {attempt.data && <div role="status">{children(attempt.data, attempt.variables ?? "")}</div>}
    </Panel>
  );
}
