import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { TOOL_CALL_FILTERS } from "../data/list-search.ts";
import type { Column } from "../parts/data-table.tsx";
import { LiveList, liveList, type Narrow } from "../parts/live-list.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";
import { EmptyPanel } from "../parts/states.tsx";
import { ValueLink } from "../parts/value-link.tsx";
import { clientColumn, latencyColumn } from "../requests/request-columns.tsx";

const TONES: Readonly<Record<string, string>> = { ok: "good", failed: "bad", denied: "warn" };

const columnsFor = (narrow: Narrow): Column<ToolCallView>[] => [
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
  clientColumn(narrow),
  { id: "channel", head: "Seen by", cell: ({ channel }) => (channel === "mcp" ? "tool gateway" : "hook") },
  latencyColumn(),
];

const LIST = liveList<ToolCallView>({
  title: "Tool calls",
  label: "Tool calls",
  path: "/admin/v1/tool-calls",
  words: TOOL_CALL_FILTERS,
  source: "tool_calls",
  columns: columnsFor,
  none: (
    <EmptyPanel title="No tool calls">
      Calls appear here when an agent uses a tool server of this gateway, or has its hooks.
    </EmptyPanel>
  ),
});

/** Calls of tools, as the tool gateway and agents' hooks saw them. */
export const ToolCallsPage = () => <LiveList of={LIST} />;
