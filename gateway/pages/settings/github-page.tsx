import type { RepositoryView } from "#shared/admin/repositories.ts";
import type { Spec } from "#shared/report.ts";
import type { QueryAnswer } from "#shared/report-query.ts";
import { useList } from "../data/records.ts";
import { useReport } from "../data/reports.ts";
import { GithubAppPanel } from "../github/github-app.tsx";
import { type Columns, moment, money, number, opens, text } from "../parts/columns.tsx";
import { FindTable } from "../parts/find-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty, PageHead, Panel } from "../parts/page.tsx";
import { APP_SETTINGS, FEEDBACK_SETTINGS } from "./forms/people-forms.ts";
import { SETTINGS_LIST } from "./resources.ts";
import { SettingsForm } from "./settings-form.tsx";

const MERGES: Spec = {
  source: "outcomes",
  dimensions: ["repository"],
  measures: ["cost_usd"],
  filters: {},
  range: "mtd",
  compare: "none",
  view: "table",
};

function columnsFor(merges: QueryAnswer | undefined): Columns<RepositoryView> {
  const rows = new Map(merges?.rows.map((row) => [row.groups[0], row]));
  const costOf = ({ name }: RepositoryView) => rows.get(name)?.current?.cost_usd ?? null;
  return {
    name: opens(
      "Repository",
      ({ name }) => name,
      ({ name: repository }) => ({ to: "/pull-requests", search: { repository } }),
    ),
    month: money("Merged this month", costOf, ({ name }) => ({
      floor: rows.get(name)?.floor ?? false,
      unknown: "No merge of this month has a known cost.",
    })),
    merged: number("Merges", ({ merged }) => merged),
    joined: number("Joined", ({ joined }) => joined),
    read: moment("Read up to", ({ reading }) => reading?.read_up_to ?? null, "not read yet"),
    failure: text("Waiting because", ({ reading }) => reading?.failure ?? null),
  };
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
          <FindTable label="Repositories" noun="repository" columns={columns} rows={rows} rowKey={["id"]} />
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
