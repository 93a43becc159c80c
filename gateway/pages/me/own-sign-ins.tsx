import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { OwnSession } from "#shared/admin/me.ts";
import { sendJson } from "../data/api.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { momentColumn, textColumn } from "../settings/cells.tsx";

const columns = (end: (id: string) => void): Column<OwnSession>[] => [
  textColumn("browser", "Browser", { of: ({ user_agent: agent }) => agent, none: "unknown" }),
  textColumn("address", "Address", { of: ({ address }) => address, none: "unknown" }),
  momentColumn("since", "Since", { of: ({ created_at: at }) => at, none: "" }),
  momentColumn("until", "Ends", { of: ({ expires_at: at }) => at, none: "" }),
  {
    id: "end",
    head: "",
    cell: ({ id, current }) =>
      current ? (
        <span className="mute">this one</span>
      ) : (
        <Button size="compact-sm" variant="default" onClick={() => end(id)}>
          End
        </Button>
      ),
  },
];

/** Where one is signed in, and a way to end it. */
export function OwnSignIns({ sessions }: { sessions: readonly OwnSession[] }) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const end = (id: string) =>
    void sendJson(`/v1/me/sessions/${encodeURIComponent(id)}`, { method: "DELETE" })
      .then(() => client.invalidateQueries({ queryKey: ["own"] }))
      .catch(setError);
  return (
    <Panel title="Signed in" sub="End any session that you do not recognise or no longer need.">
      {error !== null && <Fault error={error} />}
      <DataTable label="Sessions" columns={columns(end)} rows={sessions} rowKey={({ id }) => id} />
    </Panel>
  );
}
