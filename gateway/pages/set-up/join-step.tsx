import { Code, Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { plural } from "#shared/plural.ts";
import { sendJson } from "../data/api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { counted } from "../parts/format.ts";
import { Fault } from "../parts/page.tsx";
import { Moment } from "../parts/values.tsx";
import { SET_UP, type SetUp } from "./set-up-state.ts";

/** The switch without which no merge is stored, and the merges that wait for it. */
export function JoinStep({ setUp: { app, isJoining } }: { setUp: SetUp }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (isOn: boolean) =>
      sendJson("/admin/v1/settings", { method: "PATCH", body: { pull_request_stamping: isOn } }),
    onSuccess: () => client.invalidateQueries({ queryKey: SET_UP.queryKey }),
  });
  const { waiting_merges: waiting } = app;
  return (
    <>
      <Switch
        mt="sm"
        label="Join merged pull requests to their sessions"
        checked={change.isError ? isJoining : (change.variables ?? isJoining)}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {change.error && <Fault error={change.error} />}
      {waiting.length > 0 && (
        <>
          <p>
            {counted(waiting.length, "merge")} arrived meanwhile. Switch it on to join{" "}
            {plural(waiting.length, "it", "them")}.
          </p>
          <ul className="changes">
            {waiting.map((it) => (
              <li key={`${it.repository_id} ${it.number}`}>
                {it.repository ?? `Repository ${it.repository_id}`} #{it.number}
                {it.author !== null && ` by ${it.author}`}, session <code>{it.session}</code>,{" "}
                <Moment at={it.merged_at} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Two ways in which a pull request names its session. */
export function StampStep() {
  const commands = `tallygate login --url ${location.origin}\ntallygate install`;
  return (
    <>
      <p>
        On each developer's machine, let <a href="/docs">the command line</a> do it: agents then name the
        branch's session by themselves.
      </p>
      <div className="sample">
        <Code block p="sm" tabIndex={0}>
          {commands}
        </Code>
        <CopyButton text={commands} label="Copy the commands" />
      </div>
      <p>
        Or write a line into the body by hand: <code>Gateway-Session: task-42</code>, with the session that
        the calls sent as <code>x-session-id</code>.
      </p>
    </>
  );
}
