import type { DearMergeView } from "#shared/admin/pull-requests.ts";
import type { Window } from "#shared/report.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { queryOf, useJson } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";
import { COSTS_FILTERS } from "../data/parameters.ts";
import type { FrameSearch } from "../data/search.ts";
import { type Columns, cell, money } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { count, percent } from "../parts/format.ts";
import { Answered, Panel } from "../parts/page.tsx";
import { PullRequestName } from "../parts/pull-request-name.tsx";
import { Foreign } from "../parts/values.tsx";

/** From this many times the usual on, a factor is named. */
const NOTABLE = 1.5;
const WORDS: Readonly<Record<string, string>> = {
  calls: "calls",
  sessions: "sessions",
  subagents: "sub-agents",
  retries: "retries or failures",
  context: "input tokens per call",
};

/** The ten dearest merges, each with what sets it apart from the usual one of its repository. */
export function Dearest({ search, window: { from, to } }: { search: FrameSearch; window: Window }) {
  const { repository: [repository] = [], author: [author] = [], team: [team] = [] } = search;
  // The list takes one value of these, and no other filter.
  const left = COSTS_FILTERS.filter(
    (name) => (search[name]?.length ?? 0) > (["repository", "author", "team"].includes(name) ? 1 : 0),
  );
  const query = queryOf({ from: from ?? undefined, to: to ?? undefined, repository, author, team });
  const dearest = useJson<{ data: DearMergeView[] }>(
    ["pull-requests", "dearest", query],
    `/admin/v1/pull-requests/dearest${query}`,
    {
      meta: OF_RECORDS,
      enabled: left.length === 0,
    },
  );
  if (left.length > 0) {
    const names = left.map((name) => dimensionWord(name).toLowerCase()).join(", ");
    return (
      <Panel title="The costliest merges">
        <p className="mute">They cannot be narrowed by this choice of {names}.</p>
      </Panel>
    );
  }
  return (
    <Panel title="The costliest merges" sub="Beside the usual merge of the same repository in this time.">
      <Answered query={dearest} height={320}>
        {({ data }) => (
          <DataTable label="The costliest merges" columns={COLUMNS} rows={data} rowKey={["id"]} />
        )}
      </Answered>
    </Panel>
  );
}

const COLUMNS: Columns<DearMergeView> = {
  name: cell("Pull request", ({ repository, number, author }) => (
    <>
      <PullRequestName repository={repository} number={number} />
      {author !== null && (
        <small>
          <Foreign text={author} />
        </small>
      )}
    </>
  )),
  cost: money(
    "Cost",
    ({ session_cost_usd: cost }) => cost,
    ({ session_cost_is_lower_bound: floor }) => ({ floor }),
  ),
  usual: money(
    "Usual",
    ({ usual_usd: usual }) => usual,
    () => ({ unknown: "There is no other merge to compare with." }),
  ),
  why: cell("Why", (merge) => <div className="changes">{whyOf(merge)}</div>),
};

/** The model that cost most, and what there was far more of than usual, most first. */
export function whyOf({
  factors,
  model,
  model_cost_usd: part,
  session_cost_usd: cost,
}: DearMergeView): string {
  const share =
    Number(cost) > 0 && part !== null ? `${percent(Number(part) / Number(cost))} by ${model}` : null;
  const notable = factors
    .flatMap(({ name, value, usual }) => {
      const times = usual === null ? 0 : value / Math.max(usual, 1);
      return times >= NOTABLE ? [{ times, text: textOf(name, value, usual ?? 0) }] : [];
    })
    .toSorted((a, b) => b.times - a.times);
  const parts = [...(share === null ? [] : [share]), ...notable.map(({ text }) => text)];
  return parts.join(" · ") || "Nothing unusual is known of its calls.";
}

const textOf = (name: string, value: number, usual: number): string =>
  `${count(Math.round(value))} ${WORDS[name] ?? name}, usually ${count(Math.round(usual))}`;
