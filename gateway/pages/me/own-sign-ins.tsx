import { useQueryClient } from "@tanstack/react-query";
import type { OwnSession } from "#shared/admin/me.ts";
import { sendJson } from "../data/api.ts";
import { Act } from "../parts/act.tsx";
import { cell, moment, text } from "../parts/columns.tsx";
import { type Columns, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/page.tsx";

const columns = (end: (id: string) => Promise<void>): Columns<OwnSession> => ({
  browser: text("Browser", ({ user_agent: agent }) => agent, "unknown"),
  address: text("Address", ({ address }) => address, "unknown"),
  since: moment("Since", ({ created_at: at }) => at),
  until: moment("Ends", ({ expires_at: at }) => at),
  end: cell("", ({ id, current }) =>
    current ? <span className="mute">this one</span> : <Act act={() => end(id)}>End</Act>,
  ),
});

/** Where one is signed in, and a way to end it. */
export function OwnSignIns({ sessions }: { sessions: readonly OwnSession[] }) {
  const client = useQueryClient();
  const end = async (id: string) => {
    await sendJson(`/v1/me/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
    await client.invalidateQueries({ queryKey: ["own"] });
  };
  return (
    <Panel title="Signed in" sub="End any session that you do not recognise or no longer need.">
      <DataTable label="Sessions" columns={columns(end)} rows={sessions} rowKey={["id"]} />
    </Panel>
  );
}
