import { Switch } from "@mantine/core";
import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { useAddress } from "../data/address.ts";
import { listSearch } from "../data/list-search.ts";
import { LIVE_MS, useList } from "../data/records.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { FieldFilter } from "../parts/field-filter.tsx";
import { duration } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ListNote } from "../parts/scope-note.tsx";
import { Empty } from "../parts/states.tsx";
import { ValueChips } from "../parts/value-chips.tsx";
import { ValueLink } from "../parts/value-link.tsx";
import { SessionLink } from "../sessions/session-link.tsx";
import { askable } from "../shell/cannot-ask.tsx";

const FILTERS = {
  from: "From",
  to: "To",
  server: "Server",
  tool: "Tool",
  status: "Status",
  channel: "Channel",
  client: "Client",
  owner: "Person",
  team: "Team",
  key: "Key",
  session: "Session",
} as const;

const readFilters = listSearch(Object.keys(FILTERS));
const NAMES = [...Object.keys(FILTERS), "live"];
const readSearch = (raw: Record<string, unknown>) => ({
  ...readFilters(raw),
  live: raw["live"] === "off" ? "off" : undefined,
});

/** Calls of tools, as the tool gateway and agents' hooks saw them. */
export const ToolCallsPage = askable("Tool calls", NAMES, ToolCalls);

function ToolCalls() {
  const [{ live, ...filters }, change] = useAddress(readSearch);
  const isLive = live !== "off";
  const list = useList<ToolCallView>({ path: "/admin/v1/tool-calls", filters, refreshMs: isLive && LIVE_MS });
  const narrow = (name: string, value: string) => change({ [name]: value });
  return (
    <>
      <PageHead title="Tool calls">
        <FieldFilter words={FILTERS} source="tool_calls" choose={narrow} />
        <Switch
          size="sm"
          label="Live"
          checked={isLive}
          onChange={(event) => change({ live: event.currentTarget.checked ? undefined : "off" })}
        />
      </PageHead>
      <ListNote />
      <ValueChips words={FILTERS} values={filters} remove={(name) => change({ [name]: undefined })} />
      <ListPage
        list={list}
        none={
          <div className="panel">
            <Empty title="No tool calls">
              Remove a filter. Calls appear here when an agent uses a tool server of this gateway, or has its
              hooks.
            </Empty>
          </div>
        }
      >
        {(items) => (
          <DataTable
            label="Tool calls"
            columns={columnsFor(narrow)}
            rows={items}
            rowKey={({ id }) => id}
            rowHeight={54}
          />
        )}
      </ListPage>
    </>
  );
}

const TONES: Readonly<Record<string, string>> = { ok: "good", failed: "bad", denied: "warn" };

const columnsFor = (narrow: (name: string, value: string) => void): Column<ToolCallView>[] => [
  { id: "time", head: "Time", cell: ({ started_at: at }) => <Moment at={at} /> },
  {
    id: "cost",
    head: "Cost",
    isNumber: true,
    cell: ({ cost_usd: cost }) => <Money value={cost} unknown="No price is set for this tool." />,
  },
  {
    id: "tool",
    head: "Tool",
    cell: ({ tool, server }) => (
      <>
        <ValueLink
          text={tool}
          choose={(value) => narrow("tool", value)}
          none="Its name could not be stored."
        />
        <small>
          <ValueLink
            text={server}
            choose={(value) => narrow("server", value)}
            none="It is built into the agent."
          />
        </small>
      </>
    ),
  },
  {
    id: "status",
    head: "Status",
    cell: ({ status, error_code: code }) => (
      <button type="button" className="value-link" onClick={() => narrow("status", status)}>
        <span className={`tag ${TONES[status] ?? ""}`}>{code === null ? status : `${status} · ${code}`}</span>
      </button>
    ),
  },
  {
    id: "person",
    head: "Person",
    cell: ({ owner, key_name: key }) => (
      <>
        <ValueLink
          text={owner}
          choose={(value) => narrow("owner", value)}
          none="The key has no owner: a service account."
        />
        <small>
          <ValueLink text={key} choose={(value) => narrow("key", value)} none="The key was deleted." />
        </small>
      </>
    ),
  },
  {
    id: "client",
    head: "Client",
    cell: ({ client, session }) => (
      <>
        <ValueLink text={client} choose={(value) => narrow("client", value)} />
        <small>
          <SessionLink session={session} />
        </small>
      </>
    ),
  },
  { id: "channel", head: "Seen by", cell: ({ channel }) => (channel === "mcp" ? "tool gateway" : "hook") },
  {
    id: "latency",
    head: "Latency",
    isNumber: true,
    cell: ({ latency_ms: ms }) => (ms === null ? "–" : duration(ms)),
  },
];
