import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { queryOf } from "../data/api.ts";
import { PULL_REQUEST_FILTERS } from "../data/list-search.ts";
import { mayAs, useMe } from "../data/me.ts";
import { counted } from "../parts/format.ts";
import { LINKS, linkRemedy, linkWord } from "../parts/link-words.tsx";
import { LiveList, liveList } from "../parts/live-list.tsx";
import { EmptyPanel } from "../parts/page.tsx";
import { NotJoined } from "./not-joined.tsx";
import { pullRequestColumns } from "./pull-request-columns.tsx";

const VALUES = { state: ["merged", "open", "closed"], link: LINKS } as const;

/** What to do about those without a cost: once for each cause. */
function Remedies({ items }: { items: readonly PullRequestView[] }) {
  const causes = [...new Set(items.map(({ link }) => link))].filter((link) => linkRemedy(link) !== null);
  return causes.map((link) => (
    <p className="note" key={link}>
      <b>{counted(items.filter((it) => it.link === link).length, linkWord(link), linkWord(link))}:</b>{" "}
      {linkRemedy(link)}
    </p>
  ));
}

const PATH = "/admin/v1/pull-requests";

const LIST = liveList<PullRequestView>({
  title: "Pull requests",
  label: "Pull requests",
  path: PATH,
  words: PULL_REQUEST_FILTERS,
  source: "outcomes",
  values: (items) => ({
    ...VALUES,
    author: [...new Set(items.flatMap(({ author }) => author ?? []))].toSorted(),
  }),
  columns: pullRequestColumns,
  sortName: "sort",
  none: (
    <EmptyPanel title="No pull requests">
      They appear here once an administrator has installed the GitHub App, under{" "}
      <Link to="/settings/github" className="link">
        GitHub
      </Link>
      , and the first one is opened or merged.
    </EmptyPanel>
  ),
});

const PARTS = (
  <>
    <Link to="/pull-requests/costs">Cost of merges</Link> ·{" "}
    <Link to="/pull-requests/explained">Explained spend</Link>
  </>
);

/** Pull requests by their last merge, what each cost, and what to do if the cost is unknown. */
export const PullRequestsPage = () => (
  <LiveList
    of={LIST}
    sub={mayAs(useMe().role, "manager") && PARTS}
    controls={(filters) => (
      <Button component="a" size="xs" download href={`${PATH}${queryOf({ ...filters, format: "csv" })}`}>
        CSV
      </Button>
    )}
    above={(isNarrowed, change) => !isNarrowed && <NotJoined choose={change} />}
    aboveItems={(items, isNarrowed) => isNarrowed && <Remedies items={items} />}
  />
);
