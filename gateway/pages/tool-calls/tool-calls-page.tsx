import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { TOOL_CALL_FILTERS } from "../data/list-search.ts";
import { type Columns, cell, figure } from "../parts/columns.tsx";
import { LiveList, liveList } from "../parts/live-list.tsx";
import { EmptyPanel } from "../parts/page.tsx";
import { type Narrow, ValueLink, valueLinks } from "../parts/value-link.tsx";
import { Moment, Money } from "../parts/values.tsx";
import { clientColumn, LATENCY, NO_KEY, NO_OWNER } from "../requests/request-columns.tsx";

const TONES: Readonly<Record<string, string>> = { ok: "good", failed: "bad", denied: "warn" };

const columnsFor = (narrow: Narrow): Columns<ToolCallView> => {
  const link = valueLinks(narrow);
  return {
    time: cell("Time", ({ started_at: at }) => <Moment at={at} />),
    cost: figure("Cost", ({ cost_usd: usd }) => (
      <Money value={usd} unknown="No price is set for this tool." />
    )),
    tool: cell("Tool", ({ tool, server }) => (
      <>
        {link("tool", tool, "Its name could not be stored.")}
        <small>{link("server", server, "It is built into the agent.")}</small>
      </>
    )),
    status: cell("Status", ({ status, error_code: code }) => (
      <ValueLink text={status} choose={(value) => narrow("status", value)}>
        <span className={`tag ${TONES[status] ?? ""}`}>{code === null ? status : `${status} · ${code}`}</span>
      </ValueLink>
    )),
    person: cell("Person", ({ owner, key_name: key }) => (
      <>
        {link("owner", owner, NO_OWNER)}
        <small>{link("key", key, NO_KEY)}</small>
      </>
    )),
    client: clientColumn(narrow),
    channel: cell("Seen by", ({ channel }) => (channel === "mcp" ? "tool gateway" : "hook")),
    latency: LATENCY,
  };
};

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
