import { Button, Group, Progress, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { RepriceJobView, RepriceView } from "#shared/admin/prices.ts";
import { plural } from "#shared/plural.ts";
import { getJson, sendJson } from "../data/api.ts";
import { count, counted } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";

const PATH = "/admin/v1/prices/reprice";
const POLL_MS = 1000;

type Window = { from: string; to: string };
/** Many calls are priced by a job. */
type Answer = RepriceView | RepriceJobView;
const isJob = (answer: Answer): answer is RepriceJobView => "id" in answer;
const reprice = (window: Window, dryRun: boolean) =>
  sendJson<Answer>(PATH, { method: "POST", body: { ...window, dry_run: dryRun } });

/** Prices records that have no cost: first what would change, then a job with its progress. */
export function Reprice() {
  const [window, setWindow] = useState<Window>({ from: "", to: "" });
  const dry = useMutation({ mutationFn: () => reprice(window, true) });
  const start = useMutation({ mutationFn: () => reprice(window, false) });
  const change = (part: Partial<Window>) => {
    setWindow({ ...window, ...part });
    dry.reset();
    start.reset();
  };
  const running = useRunningJob();
  const answer: Answer | null = start.data ?? dry.data ?? running;
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
      {answer && (
        <Outcome key={isJob(answer) ? answer.id : "at once"} answer={answer}>
          {(sums) =>
            dry.data && (
              <Button
                disabled={sums.repriced_records === 0}
                loading={start.isPending}
                onClick={() => start.mutate()}
              >
                Price {counted(sums.repriced_records, "call")}
              </Button>
            )
          }
        </Outcome>
      )}
    </Panel>
  );
}

const Sums = ({ sums, children }: { sums: RepriceView; children: ReactNode }) => (
  <div role="status">
    <p>
      {count(sums.repriced_records)} of {counted(sums.unpriced_records, "call")}{" "}
      {plural(sums.repriced_records, "gets", "get")} a price. Known cost: from{" "}
      <Money value={sums.old_cost_usd} /> to <Money value={sums.new_cost_usd} />.
    </p>
    {children}
  </div>
);

/** `children` makes the button for what a dry run has shown. */
type OutcomeProps<T> = { answer: T; children: (sums: RepriceView) => ReactNode };

const Outcome = ({ answer, children }: OutcomeProps<Answer>) =>
  isJob(answer) ? (
    <JobProgress answer={answer}>{children}</JobProgress>
  ) : (
    <Sums sums={answer}>{answer.dry_run ? children(answer) : <p className="mute">Done.</p>}</Sums>
  );

/** The job that is already running, because this page was left or someone else started it; null: none. */
function useRunningJob(): RepriceJobView | null {
  const { data } = useQuery({
    queryKey: ["settings", "reprice", "newest"],
    queryFn: ({ signal }) => getJson<Page<RepriceJobView>>(`${PATH}?limit=1`, signal),
  });
  const newest = data?.data[0];
  return newest?.state === "running" ? newest : null;
}

const addressOf = ({ id }: RepriceJobView): string => `${PATH}/${encodeURIComponent(id)}`;

/** A job continues without this page, and after a restart of the gateway. */
function JobProgress({ answer: started, children }: OutcomeProps<RepriceJobView>) {
  const queries = useQueryClient();
  const queryKey = ["settings", "reprice", started.id];
  const { data = started } = useQuery({
    queryKey,
    queryFn: ({ signal }) => getJson<RepriceJobView>(addressOf(started), signal),
    refetchInterval: ({ state }) => (state.data && state.data.state !== "running" ? false : POLL_MS),
  });
  const cancel = useMutation({
    mutationFn: () => sendJson<RepriceJobView>(`${addressOf(started)}/cancel`, { method: "POST", body: {} }),
    onSuccess: (ended) => queries.setQueryData(queryKey, ended),
  });
  const share = data.unpriced_records === 0 ? 1 : data.checked_records / data.unpriced_records;
  return (
    <Sums sums={data}>
      <Progress value={100 * (data.state === "done" ? 1 : share)} aria-label="Progress of pricing" />
      <Group>
        <p className="mute">{stateText(data)}</p>
        {data.state === "running" && (
          <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
      </Group>
      {cancel.error && <Fault error={cancel.error} />}
      {data.dry_run && data.state === "done" && children(data)}
    </Sums>
  );
}

function stateText({ state, checked_records: checked }: RepriceJobView): string {
  if (state === "done") return "Done.";
  if (state === "cancelled") return "Cancelled. What was priced until then stays priced.";
  return `${counted(checked, "call")} checked. You can leave this page.`;
}
