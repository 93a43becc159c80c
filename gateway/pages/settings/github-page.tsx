import { Link } from "@tanstack/react-router";
import type { RepositoryView } from "#shared/admin/repositories.ts";
import type { Spec } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { useList } from "../data/records.ts";
import { useReport } from "../data/reports.ts";
import { GithubAppPanel } from "../github/github-app.tsx";
import type { Column } from "../parts/data-table.tsx";
import { FindTable } from "../parts/find-table.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { count } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Empty } from "../parts/states.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";
import { APP_SETTINGS, FEEDBACK_SETTINGS } from "./forms/people-forms.ts";
import { SETTINGS_LIST } from "./resources.ts";
import { SettingsForm } from "./settings-form.tsx";

/** The merges of this month, by repository. */
const MERGES: Spec = {
  source: "outcomes",
  dimensions: ["repository"],
  measures: ["cost_usd"],
  filters: {},
  range: "mtd",
  compare: "none",
  view: "table",
};

function columnsFor(merges: QueryAnswer | undefined): Column<RepositoryView>[] {
  const rows = new Map(merges?.rows.map((row) => [row.groups[0], row]));
  const costOf = ({ name }: RepositoryView) => rows.get(name)?.current?.cost_usd ?? null;
  return [
    {
      id: "name",
      head: "Repository",
      sort: ({ name }) => name,
      cell: ({ name }) => (
        <Link to="/pull-requests" search={{ repository: name }} className="row-link">
          <Foreign text={name} />
        </Link>
      ),
    },
    {
      id: "month",
      head: "Merged this month",
      isNumber: true,
      sort: (view) => Number(costOf(view) ?? 0),
      cell: (view) => (
        <Money
          value={costOf(view)}
          floor={rows.get(view.name)?.floor ?? false}
          unknown="No merge of this month has a known cost."
        />
      ),
    },
    numberColumn("merged", "Merges", { of: ({ merged }) => count(merged), by: ({ merged }) => merged }),
    numberColumn("joined", "Joined", { of: ({ joined }) => count(joined), by: ({ joined }) => joined }),
    momentColumn("read", "Read up to", {
      of: ({ reading }) => reading?.read_up_to ?? null,
      none: "The first pass has not ended.",
    }),
    textColumn("failure", "Waiting because", {
      of: ({ reading }) => reading?.failure ?? null,
    }),
  ];
}

function Repositories() {
  const list = useList<RepositoryView>({ path: "/admin/v1/repositories", ...SETTINGS_LIST });
  const columns = columnsFor(useReport(MERGES).data);
  return (
    <Panel
      title="Repositories"
      sub="What the App sees, how far it has read, and what this month's merges cost."
    >
      <ListPage
        list={list}
        none={<Empty title="No repository yet">Create the App and install it in your organisation.</Empty>}
      >
        {(rows) => (
          <FindTable
            label="Repositories"
            noun="repository"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </ListPage>
    </Panel>
  );
}

/** The GitHub App: its set-up, what it sees, and what it shows on GitHub. */
export const GithubPage = () => (
  <>
    <PageHead title="GitHub" />
    <GithubAppPanel />
    <Repositories />
    <SettingsForm title="What the App does" form={APP_SETTINGS} />
    <SettingsForm title="What it shows on GitHub" form={FEEDBACK_SETTINGS} />
  </>
);
