import { Button, Group, Progress, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { DifferenceView, RepriceJobView, RepriceView, RestateJobView } from "#shared/admin/prices.ts";
import { plural } from "#shared/plural.ts";
import { sendJson } from "../data/api.ts";
import { useJson } from "../data/use-json.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count, counted, decimalsOf } from "../parts/format.ts";
import { Money } from "../parts/money.tsx";
import { Panel } from "../parts/page-head.tsx";
import { Fault } from "../parts/states.tsx";
import { numberColumn, textColumn } from "./cells.tsx";

const POLL_MS = 1000;

type Asked = { from: string; to: string; model: string };
type Job = RepriceJobView | RestateJobView;
/** Many calls are priced by a job. */
type Answer = RepriceView | Job;
const isJob = (answer: Answer): answer is Job => "id" in answer;

type Kind = "reprice" | "restate";
const PANELS = {
  reprice: {
    title: "Price calls later",
    sub: "Prices calls that had no price when they were made. Priced calls keep their price.",
    all: (sums: Answer) => ("unpriced_records" in sums ? sums.unpriced_records : sums.records),
    button: (calls: string) => `Price ${calls}`,
  },
  restate: {
    title: "Correct the past",
    sub: "Prices calls of the past again, with the prices now known for their day. Every call keeps its earlier costs, and closed months stay as they are.",
    all: (sums: Answer) => ("records" in sums ? sums.records : sums.unpriced_records),
    button: (calls: string) => `Restate ${calls}`,
  },
} as const;

const pathOf = (kind: Kind): string => `/admin/v1/prices/${kind}`;
const changedIn = (sums: Answer): number =>
  "restated_records" in sums ? sums.restated_records : sums.repriced_records;

/** Prices records that have no cost, or all again: first what would change, then a job with its progress. */
export function Reprice({ kind }: { kind: Kind }) {
  const [window, setWindow] = useState<Asked>({ from: "", to: "", model: "" });
  const { title, sub, button } = PANELS[kind];
  const reprice = (dryRun: boolean) => {
    const { model, ...days } = window;
    const body = { ...days, ...(model !== "" && { model }), dry_run: dryRun };
    return sendJson<Answer>(pathOf(kind), { method: "POST", body });
  };
  const dry = useMutation({ mutationFn: () => reprice(true) });
  const start = useMutation({ mutationFn: () => reprice(false) });
  const change = (part: Partial<Asked>) => {
    setWindow({ ...window, ...part });
    dry.reset();
    start.reset();
  };
  const running = useRunningJob(kind);
  const answer: Answer | null = start.data ?? dry.data ?? running;
  const error = dry.error ?? start.error;
  return (
    <Panel title={title} sub={sub}>
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
          {kind === "restate" && (
            <TextInput
              label="Model"
              placeholder="all"
              value={window.model}
              onChange={(event) => change({ model: event.currentTarget.value })}
            />
          )}
          <Button type="submit" variant="default" loading={dry.isPending}>
            Show what would change
          </Button>
        </Group>
      </form>
      {error && <Fault error={error} />}
      {answer && (
        <Outcome kind={kind} key={isJob(answer) ? answer.id : "at once"} answer={answer}>
          {(sums) =>
            dry.data && (
              <Button
                disabled={changedIn(sums) === 0}
                loading={start.isPending}
                onClick={() => start.mutate()}
              >
                {button(counted(changedIn(sums), "call"))}
              </Button>
            )
          }
        </Outcome>
      )}
    </Panel>
  );
}

function Sums({ kind, sums, children }: { kind: Kind; sums: Answer; children: ReactNode }) {
  const changed = changedIn(sums);
  const verb =
    kind === "reprice"
      ? plural(changed, "gets a price", "get a price")
      : plural(changed, "changes", "change");
  return (
    <div role="status">
      <p>
        {count(changed)} of {counted(PANELS[kind].all(sums), "call")} {verb}. Known cost: from{" "}
        <Money value={sums.old_cost_usd} whole /> to <Money value={sums.new_cost_usd} whole />.
      </p>
      {sums.closed_months.length > 0 && (
        <p className="mute">Closed months stay as they are: {sums.closed_months.join(", ")}.</p>
      )}
      {"differences" in sums && sums.differences && sums.differences.length > 0 && (
        <DataTable
          label="What changes"
          sortName="restate.sort"
          columns={differences(
            decimalsOf(AMOUNTS.flatMap((name) => sums.differences?.map((it) => it[name]) ?? [])),
          )}
          rows={sums.differences}
          rowKey={({ month, team, model }) => [month, team, model].join("\n")}
        />
      )}
      {children}
    </div>
  );
}

const AMOUNTS = ["old_cost_usd", "new_cost_usd", "difference_usd"] as const;

const money = (name: (typeof AMOUNTS)[number], head: string, decimals: number): Column<DifferenceView> => ({
  id: name,
  head,
  isNumber: true,
  sort: (row) => Number(row[name]),
  cell: (row) => <Money value={row[name]} whole={decimals} />,
});

const differences = (decimals: number): Column<DifferenceView>[] => [
  textColumn("month", "Month", { of: ({ month }) => month }),
  textColumn("team", "Team", { of: ({ team }) => team, none: "no team" }),
  textColumn("model", "Model", { of: ({ model }) => model }),
  numberColumn("records", "Calls", { of: ({ records }) => count(records), by: ({ records }) => records }),
  money("old_cost_usd", "Before", decimals),
  money("new_cost_usd", "After", decimals),
  money("difference_usd", "Difference", decimals),
];

/** `children` makes the button for what a dry run has shown. */
type OutcomeProps<T> = { kind: Kind; answer: T; children: (sums: Answer) => ReactNode };

const Outcome = ({ kind, answer, children }: OutcomeProps<Answer>) =>
  isJob(answer) ? (
    <JobProgress kind={kind} answer={answer}>
      {children}
    </JobProgress>
  ) : (
    <Sums kind={kind} sums={answer}>
      {answer.dry_run ? children(answer) : <p className="mute">Done.</p>}
    </Sums>
  );

/** The job that is already running, because this page was left or someone else started it; null: none. */
function useRunningJob(kind: Kind): Job | null {
  const { data } = useJson<Page<Job>>(["settings", kind, "newest"], `${pathOf(kind)}?limit=1`);
  const newest = data?.data[0];
  return newest?.state === "running" ? newest : null;
}

const addressOf = (kind: Kind, { id }: Job): string => `${pathOf(kind)}/${encodeURIComponent(id)}`;

/** A job continues without this page, and after a restart of the gateway. */
function JobProgress({ kind, answer: started, children }: OutcomeProps<Job>) {
  const queries = useQueryClient();
  const queryKey = ["settings", kind, started.id];
  const { data = started } = useJson<Job>(queryKey, addressOf(kind, started), {
    refetchInterval: ({ state }) => (state.data && state.data.state !== "running" ? false : POLL_MS),
  });
  const cancel = useMutation({
    mutationFn: () => sendJson<Job>(`${addressOf(kind, started)}/cancel`, { method: "POST", body: {} }),
    onSuccess: (ended) => queries.setQueryData(queryKey, ended),
  });
  const all = PANELS[kind].all(data);
  const share = all === 0 ? 1 : data.checked_records / all;
  return (
    <Sums kind={kind} sums={data}>
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

function stateText({ state, checked_records: checked }: Job): string {
  if (state === "done") return "Done.";
  if (state === "cancelled") return "Cancelled. What was priced until then stays priced.";
  return `${counted(checked, "call")} checked. You can leave this page.`;
}
