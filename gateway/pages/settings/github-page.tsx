import type { RepositoryView } from "#shared/admin/repositories.ts";
import { useList } from "../data/records.ts";
import { GithubAppPanel } from "../github/github-app.tsx";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Empty } from "../parts/states.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";
import { APP_SETTINGS, FEEDBACK_SETTINGS } from "./forms/people-forms.ts";
import { SETTINGS_LIST } from "./resources.ts";
import { SettingsForm } from "./settings-form.tsx";

const COLUMNS: readonly Column<RepositoryView>[] = [
  textColumn("name", "Repository", { of: ({ name }) => name }),
  momentColumn("read", "Read up to", {
    of: ({ reading }) => reading?.read_up_to ?? null,
    none: "The first pass has not ended.",
  }),
  numberColumn("pulls", "Pull requests read", {
    of: ({ reading }) => (reading ? count(reading.pull_requests) : null),
    by: ({ reading }) => reading?.pull_requests ?? null,
  }),
  textColumn("failure", "Waiting because", {
    of: ({ reading }) => reading?.failure ?? null,
    none: "not waiting",
  }),
];

function Repositories() {
  const list = useList<RepositoryView>({ path: "/admin/v1/repositories", ...SETTINGS_LIST });
  return (
    <Panel title="Repositories" sub="What the App sees, and how far it has read.">
      <ListPage
        list={list}
        none={<Empty title="No repository yet">Create the App and install it in your organisation.</Empty>}
      >
        {(rows) => <DataTable label="Repositories" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />}
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
