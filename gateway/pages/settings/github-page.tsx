import { Button, Group, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { RepositoryView } from "#shared/admin/repositories.ts";
import type { SetupLink } from "#shared/admin/setup-link.ts";
import { sendJson } from "../data/api.ts";
import { useList } from "../data/records.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { count } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Empty, Fault } from "../parts/states.tsx";
import { momentColumn, numberColumn, textColumn } from "./cells.tsx";
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

/** The App's address, as far as the page can know: the same host, on the App's default port. */
const appAddress = (): string => `${location.protocol}//${location.hostname}:8788`;

/** Leads to the App's own set-up pages by a link that works once, so that nobody types the admin key there. */
function SetUpApp() {
  const [address, setAddress] = useState(appAddress);
  const link = useMutation({
    mutationFn: () => sendJson<SetupLink>("/admin/v1/setup-links", { method: "POST" }),
    onSuccess: ({ path }) => window.open(`${address.replace(/\/+$/, "")}${path}`, "_blank", "noopener"),
  });
  return (
    <Panel
      title="The App"
      sub="Its set-up pages create the App at GitHub, show its deliveries, and rotate its secret."
    >
      <Group align="end">
        <TextInput
          label="Address of the App"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        <Button loading={link.isPending} onClick={() => link.mutate()}>
          Open the set-up page
        </Button>
      </Group>
      {link.error && <Fault error={link.error} />}
    </Panel>
  );
}

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

/** The GitHub App: its set-up, what it sees, and what it shows at GitHub. */
export const GithubPage = () => (
  <>
    <PageHead title="GitHub" />
    <SetUpApp />
    <Repositories />
    <SettingsForm
      title="What the App does"
      fields={[
        { name: "pull_request_stamping", label: "Join merged pull requests to sessions", kind: "switch" },
        { name: "not_stamped_bots", label: "Count bots' pull requests as not stamped", kind: "switch" },
        {
          name: "pull_request_backfill_days",
          label: "Read back, days",
          kind: "integer",
          required: true,
          help: "When the App first sees a repository; 3650 is everything.",
        },
      ]}
    />
    <SettingsForm
      title="What it shows at GitHub"
      fields={[
        {
          name: "pull_request_check",
          label: "A check run on each pull request",
          kind: "switch",
          help: "Needs the permission checks: write.",
        },
        {
          name: "pull_request_comment",
          label: "A comment with the cost on merged pull requests",
          kind: "switch",
          help: "Needs the permission pull_requests: write.",
        },
        {
          name: "feedback_include",
          label: "Public repositories to include",
          kind: "lines",
          placeholder: "owner/name",
          help: "Private ones need not be named.",
        },
        { name: "feedback_exclude", label: "Repositories to leave out", kind: "lines" },
      ]}
    />
  </>
);
