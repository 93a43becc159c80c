import { Button, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { postJson } from "../data/api.ts";
import { Fault, Panel } from "../parts/page.tsx";
import { TypedForm } from "../parts/typed-form.tsx";

type TryPanelProps<Answer> = {
  /** Takes `input` and stores nothing. */
  path: string;
  sub: string;
  action: string;
  children: (answer: Answer, text: string) => ReactNode;
};

/** Tries a text as calls would be. */
export function TryPanel<Answer>({ path, sub, action, children }: TryPanelProps<Answer>) {
  const { mutate, isPending, error, data, variables } = useMutation({
    mutationFn: (input: string) => postJson<Answer>(path, { input }),
  });
  return (
    <Panel title="Try a text" sub={sub}>
      <TypedForm submit={({ text = "" }) => mutate(text)}>
        <Textarea name="text" label="Text" rows={4} required mb="sm" />
        <Button variant="filled" type="submit" loading={isPending}>
          {action}
        </Button>
      </TypedForm>
      {error && <Fault error={error} />}
      {data && <div role="status">{children(data, variables ?? "")}</div>}
    </Panel>
  );
}
