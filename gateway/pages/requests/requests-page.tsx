import { useNavigate } from "@tanstack/react-router";
import type { RequestView } from "#shared/admin/records.ts";
import { REQUEST_FILTERS } from "../data/list-search.ts";
import { LiveList, liveList } from "../parts/live-list.tsx";
import { CONNECT, EmptyPanel } from "../parts/page.tsx";
import { requestColumns } from "./request-columns.tsx";

const VALUES = {
  state: ["ok", "client_gone", "upstream_broken", "upstream_error", "interrupted", "denied"],
  channel: ["api", "subscription", "batch"],
} as const;

const LIST = liveList<RequestView>({
  title: "Requests",
  label: "Records",
  path: "/admin/v1/requests",
  words: REQUEST_FILTERS,
  source: "requests",
  values: () => VALUES,
  columns: requestColumns,
  none: <EmptyPanel title="No calls yet">{CONNECT}</EmptyPanel>,
});

/** Records of calls. */
export function RequestsPage() {
  const navigate = useNavigate();
  return <LiveList of={LIST} open={(id) => void navigate({ to: "/requests/$id", params: { id } })} />;
}
