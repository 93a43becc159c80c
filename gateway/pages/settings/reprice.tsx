import { Button, Group, Progress, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { RepriceJobView, RepriceView } from "#shared/admin/prices.ts";
import { getJson, sendJson } from "../data/api.ts";
import { count } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";

const PATH = "/admin/v1/prices/reprice";
const POLL_MS = 1000;

type Window = { from: string; to: string };
const reprice = <T,>(window: Window, dryRun: boolean) =>
  sendJson<T>(PATH, { method: "POST", body: { ...window, dry_run: dryRun } });

/** Prices records that have no cost: first what would come of it, then a job with its progress. */
export function Reprice() {
  const [window, setWindow] = useState<Window>({ from: "", to: "" });
  const dry = useMutation({ mutationFn: () => reprice<RepriceView>(window, true) });
  const start = useMutation({ mutationFn: () => reprice<RepriceJobView>(window, false) });
  const change = (part: Partial<Window>) => {
    setWindow({ ...window, ...part });
    dry.reset();
    start.reset();
  };
  const error = dry.error ?? start.error;
  return (
    <Panel
      title="Price calls again"
      sub="Prices calls that had no price when they were made. Priced calls keep their price."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          dry.mutate();
        }}
      >
        <Group align="end">
          <TextInput
            label="From"
            placeholder="2026-11-01"
            required
            value={window.from}
            onChange={(event) => change({ from: event.currentTarget.value })}
          />
          <TextInput
            label="To"
            placeholder="2026-11-30"
            required
            value={window.to}
            onChange={(event) => change({ to: event.currentTarget.value })}
          />
          <Button type="submit" variant="default" loading={dry.isPending}>
            Show what would change
          </Button>
        </Group>
      </form>
      {error && <Fault error={error} />}
      {dry.data && !start.data && (
        <Sums sums={dry.data}>
          <Button
            disabled={dry.data.repriced_records === 0}
            loading={start.isPending}
            onClick={() => start.mutate()}
          >
            Price {count(dry.data.repriced_records)} calls
          </Button>
        </Sums>
      )}
      {start.data && <RepriceProgress started={start.data} />}
    </Panel>
  );
}

const Sums = ({ sums, children }: { sums: RepriceView; children: ReactNode }) => (
  <div role="status">
    <p>
      {count(sums.repriced_records)} of {count(sums.unpriced_records)} calls get a price. Known cost: from{" "}
      <Money value={sums.old_cost_usd} /> to <Money value={sums.new_cost_usd} />.
    </p>
    {children}
  </div>
);

/** A job goes on without this page, and after a restart of the gateway. */
function RepriceProgress({ started }: { started: RepriceJobView }) {
  const { data = started } = useQuery({
    queryKey: ["settings", "reprice", started.id],
    queryFn: ({ signal }) => getJson<RepriceJobView>(`${PATH}/${encodeURIComponent(started.id)}`, signal),
    refetchInterval: ({ state }) => (state.data?.state === "done" ? false : POLL_MS),
  });
  const share = data.unpriced_records === 0 ? 1 : data.checked_records / data.unpriced_records;
  return (
    <Sums sums={data}>
      <Progress value={100 * (data.state === "done" ? 1 : share)} aria-label="Progress of pricing" />
      <p className="mute">
        {data.state === "done"
          ? "Done."
          : `${count(data.checked_records)} calls checked. You can leave this page.`}
      </p>
    </Sums>
  );
}
