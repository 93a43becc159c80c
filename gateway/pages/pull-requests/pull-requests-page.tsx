import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { PullRequestView } from "#shared/admin/pull-requests.ts";
import { useAddress } from "../data/address.ts";
import { queryOf } from "../data/api.ts";
import { listSearch, PULL_REQUEST_FILTERS } from "../data/list-search.ts";
import { mayAs, useMe } from "../data/me.ts";
import { LIVE_MS, useList } from "../data/records.ts";
import { DataTable } from "../parts/data-table.tsx";
import { FieldFilter } from "../parts/field-filter.tsx";
import { counted } from "../parts/format.ts";
import { LINKS, linkRemedy, linkWord } from "../parts/link-words.tsx";
import { ListPage, NoMatch } from "../parts/list-page.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ListNote } from "../parts/scope-note.tsx";
import { EmptyPanel } from "../parts/states.tsx";
import { ValueChips } from "../parts/value-chips.tsx";
import { NotJoined } from "./not-joined.tsx";
import { pullRequestColumns } from "./pull-request-columns.tsx";

const VALUES = { state: ["merged", "open", "closed"], link: LINKS } as const;

const readFilters = listSearch(Object.keys(PULL_REQUEST_FILTERS));

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

const LIST = "/admin/v1/pull-requests";

/** Pull requests by their last merge, what each cost, and what to do if the cost is unknown. */
export function PullRequestsPage() {
  const [filters, change] = useAddress(readFilters);
  const { role } = useMe();
  const list = useList<PullRequestView>({ path: LIST, filters, refreshMs: LIVE_MS });
  const narrow = (name: string, value: string) => change({ [name]: value });
  return (
    <>
      <PageHead
        title="Pull requests"
        sub={
          mayAs(role, "manager") && (
            <>
              <Link to="/pull-requests/costs">Cost of merges</Link> ·{" "}
              <Link to="/pull-requests/explained">Explained spend</Link>
            </>
          )
        }
      >
        <FieldFilter
          words={PULL_REQUEST_FILTERS}
          source="outcomes"
          choose={narrow}
          values={{
            ...VALUES,
            author: [...new Set(list.items?.flatMap(({ author }) => author ?? []))].toSorted(),
          }}
        />
        <Button component="a" size="xs" download href={`${LIST}${queryOf({ ...filters, format: "csv" })}`}>
          CSV
        </Button>
      </PageHead>
      <ListNote />
      <ValueChips
        words={PULL_REQUEST_FILTERS}
        values={filters}
        remove={(name) => change({ [name]: undefined })}
      />
      {Object.keys(filters).length === 0 && <NotJoined choose={change} />}
      <ListPage
        list={list}
        none={
          Object.keys(filters).length > 0 ? (
            <NoMatch />
          ) : (
            <EmptyPanel title="No pull requests">
              They appear here once the GitHub App is installed and the first one is opened or merged.
            </EmptyPanel>
          )
        }
      >
        {(items) => (
          <>
            {Object.keys(filters).length > 0 && <Remedies items={items} />}
            <DataTable
              label="Pull requests"
              columns={pullRequestColumns(narrow, items)}
              rows={items}
              rowKey={["id"]}
              sortName="sort"
              rowHeight={54}
            />
          </>
        )}
      </ListPage>
    </>
  );
}
