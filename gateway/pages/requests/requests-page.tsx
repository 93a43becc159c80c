import { Switch } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import { ROUTE_SURFACES } from "#shared/admin/routes.ts";
import { useAddress } from "../data/address.ts";
import { listSearch } from "../data/list-search.ts";
import { LIVE_MS, useList } from "../data/records.ts";
import { DataTable } from "../parts/data-table.tsx";
import { FieldFilter } from "../parts/field-filter.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ListNote } from "../parts/scope-note.tsx";
import { Empty } from "../parts/states.tsx";
import { ValueChips } from "../parts/value-chips.tsx";
import { askable } from "../shell/cannot-ask.tsx";
import { requestColumns } from "./request-columns.tsx";

const FILTERS = {
  from: "From",
  to: "To",
  model: "Model",
  client: "Client",
  owner: "Person",
  team: "Team",
  user: "User label",
  key: "Key",
  route: "Route",
  session: "Session",
  tag: "Tag",
  provider: "Provider",
  channel: "Channel",
  surface: "Surface",
  state: "State",
  status: "Status",
  error_type: "Error",
  error_cause: "Cause",
  guardrail: "Guardrail",
  provider_request_id: "Provider's request id",
} as const;

const VALUES = {
  state: ["ok", "client_gone", "upstream_broken", "upstream_error", "interrupted", "denied"],
  surface: ROUTE_SURFACES,
  channel: ["api", "subscription", "batch"],
} as const;

const readFilters = listSearch(Object.keys(FILTERS));
const NAMES = [...Object.keys(FILTERS), "live"];
const readSearch = (raw: Record<string, unknown>) => ({
  ...readFilters(raw),
  live: raw["live"] === "off" ? "off" : undefined,
});

/** Records of calls, newest first; they appear while they are made. */
export const RequestsPage = askable("Requests", NAMES, Requests);

function Requests() {
  const [{ live, ...filters }, change] = useAddress(readSearch);
  const navigate = useNavigate();
  const isLive = live !== "off";
  const list = useList<RequestView>({ path: "/admin/v1/requests", filters, refreshMs: isLive && LIVE_MS });
  const narrow = (name: string, value: string) => change({ [name]: value });
  return (
    <>
      <PageHead title="Requests">
        <FieldFilter
          words={FILTERS}
          source="requests"
          values={VALUES}
          choose={narrow}
          open={(id) => void navigate({ to: "/requests/$id", params: { id } })}
        />
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
            <Empty title="No calls yet">
              Remove a filter, or make a call: it appears here as soon as it has ended.
            </Empty>
          </div>
        }
      >
        {(items) => (
          <DataTable
            label="Records"
            columns={requestColumns(narrow)}
            rows={items}
            rowKey={({ id }) => id}
            rowHeight={54}
          />
        )}
      </ListPage>
    </>
  );
}
