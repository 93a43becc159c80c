import { Button, Group, Progress, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { DifferenceView, RepriceJobView, RepriceView, RestateJobView } from "#shared/admin/prices.ts";
import { plural } from "#shared/plural.ts";
import { postJson, useJson } from "../data/api.ts";
import { type Columns, day, folded, money, number, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay } from "../parts/dates.ts";
import { count, counted, decimalsOf } from "../parts/format.ts";
import { Fault, Panel } from "../parts/page.tsx";
import { TypedForm } from "../parts/typed-form.tsx";
import { Money } from "../parts/values.tsx";

const POLL_MS = 1000;

type Job = RepriceJobView | RestateJobView;
/** Many calls are priced by a job. */
type Answer = RepriceView | Job;
const isJob = (answer: Answer): answer is Job => "id" in answer;

type Kind = "reprice" | "restate";
const PANELS = {
  reprice: {
    title: "Price calls later",
    sub: "Prices calls that had no price when they were made. Priced calls keep their price.",
    button: (calls: string) => `Price ${calls}`,
    verb: (calls: number) => plural(calls, "gets a price", "get a price"),
  },
  restate: {
    title: "Correct the past",
    sub: "Prices calls of the past again, with the prices now known for their day. Every call keeps its earlier costs, and closed months stay as they are.",
    button: (calls: string) => `Restate ${calls}`,
    verb: (calls: number) => plural(calls, "changes", "change"),
  },
} as const;

const FIELDS = {
  from: { label: "From", type: "date", required: true },
  to: { label: "To", type: "date", required: true },
  model: { label: "Model", placeholder: "all", required: false },
} as const;
type Member = keyof typeof FIELDS;

const MEMBERS: Record<Kind, readonly Member[]> = {
  reprice: ["from", "to"],
  restate: ["from", "to", "model"],
};

const pathOf = (kind: Kind): string => `/admin/v1/prices/${kind}`;
const changedIn = (sums: Answer): number =>
  "restated_records" in sums ? sums.restated_records : sums.repriced_records;
const allIn = (sums: Answer): number => ("records" in sums ? sums.records : sums.unpriced_records);

/** Prices records that have no cost, or all again: first what would change, then a job with its progress. */
export function Reprice({ kind }: { kind: Kind }) {
  const [asked, setAsked] = useState<Partial<Record<Member, string>>>({});
  const { title, sub, button } = PANELS[kind];
  const reprice = (dryRun: boolean) => postJson<Answer>(pathOf(kind), { ...asked, dry_run: dryRun });
  const dry = useMutation({ mutationFn: () => reprice(true) });
  const start = useMutation({ mutationFn: () => reprice(false) });
  const change = (name: Member, value: string) => {
    setAsked({ ...asked, [name]: value || undefined });
    dry.reset();
    start.reset();
  };
  const running = useRunningJob(kind);
  const answer = start.data ?? dry.data ?? running;
  const error = dry.error ?? start.error;
  return (
    <Panel title={title} sub={sub}>
      <TypedForm submit={() => dry.mutate()}>
        <Group align="end">
          {MEMBERS[kind].map((name) => (
            <TextInput
              key={name}
              {...{ ...FIELDS[name], w: 150 }}
              value={asked[name] ?? ""}
              onChange={(event) => change(name, event.currentTarget.value)}
            />
          ))}
          <Button type="submit" loading={dry.isPending}>
            Show what would change
          </Button>
        </Group>
      </TypedForm>
      {error && <Fault error={error} />}
      {answer && (
        <Outcome kind={kind} key={isJob(answer) ? answer.id : "at once"} answer={answer}>
          {(sums) =>
            dry.data && (
              <Button
                variant="filled"
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
  return (
    <div role="status">
      <p>
        {count(changed)} of {counted(allIn(sums), "call")} {PANELS[kind].verb(changed)}. Known cost: from{" "}
        <Money value={sums.old_cost_usd} whole /> to <Money value={sums.new_cost_usd} whole />.
      </p>
      {sums.closed_months.length > 0 && (
        <p className="mute">
          Closed months stay as they are: {sums.closed_months.map(calendarDay).join(", ")}.
        </p>
      )}
      {"differences" in sums && sums.differences && (
        <DataTable
          label="What changes"
          sortName="restate.sort"
          columns={columnsOf(sums.differences)}
          rows={sums.differences}
          rowKey={["month", "team", "model"]}
          none={null}
        />
      )}
      {children}
    </div>
  );
}

function columnsOf(rows: readonly DifferenceView[]): Columns<DifferenceView> {
  const amounts = rows.flatMap((it) => [it.old_cost_usd, it.new_cost_usd, it.difference_usd]);
  const whole = decimalsOf(amounts);
  const exact = (head: string, of: (row: DifferenceView) => string) => money(head, of, () => ({ whole }));
  return {
    month: day("Month", ({ month }) => month),
    team: folded(text("Team", ({ team }) => team, "no team")),
    model: folded(text("Model", ({ model }) => model)),
    difference_usd: exact("Difference", (it) => it.difference_usd),
    old_cost_usd: exact("Before", (it) => it.old_cost_usd),
    new_cost_usd: exact("After", (it) => it.new_cost_usd),
    records: number("Calls", ({ records }) => records),
  };
}

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
    mutationFn: () => postJson<Job>(`${addressOf(kind, started)}/cancel`, {}),
    onSuccess: (ended) => queries.setQueryData(queryKey, ended),
  });
  const all = allIn(data);
  /** The dry run has ended, and changed nothing. */
  const isShown = data.dry_run && data.state === "done";
  const share = all === 0 ? 1 : data.checked_records / all;
  return (
    <Sums kind={kind} sums={data}>
      {!isShown && (
        <Progress value={100 * (data.state === "done" ? 1 : share)} aria-label="Progress of pricing" />
      )}
      <Group>
        <p className="mute">{isShown ? "Nothing has changed yet." : stateText(data)}</p>
        {data.state === "running" && (
          <Button loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
      </Group>
      {cancel.error && <Fault error={cancel.error} />}
      {isShown && children(data)}
    </Sums>
  );
}

function stateText({ state, checked_records: checked }: Job): string {
  if (state === "done") return "Done.";
  if (state === "cancelled") return "Cancelled. What was priced until then stays priced.";
  return `${counted(checked, "call")} checked. You can leave this page.`;
}
