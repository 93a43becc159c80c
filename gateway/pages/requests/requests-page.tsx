import { useNavigate } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import { ROUTE_SURFACES } from "#shared/admin/routes.ts";
import { LiveList, liveList } from "../parts/live-list.tsx";
import { EmptyPanel } from "../parts/states.tsx";
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

const LIST = liveList<RequestView>({
  title: "Requests",
  label: "Records",
  path: "/admin/v1/requests",
  words: FILTERS,
  source: "requests",
  values: VALUES,
  columns: requestColumns,
  none: (
    <EmptyPanel title="No calls yet">
      Remove a filter, or make a call: it appears here as soon as it has ended.
    </EmptyPanel>
  ),
});

/** Records of calls. */
export const RequestsPage = askable("Requests", LIST.names, Requests);

function Requests() {
  const navigate = useNavigate();
  return <LiveList of={LIST} open={(id) => void navigate({ to: "/requests/$id", params: { id } })} />;
}
