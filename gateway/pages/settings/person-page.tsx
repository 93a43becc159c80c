import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import type { Budgets, BudgetView } from "#shared/admin/budgets.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import { useJson } from "../data/api.ts";
import { useList } from "../data/records.ts";
import { type Columns, moment, money, opens, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Answered, Empty, Facts, PageHead, Panel } from "../parts/page.tsx";
import { Foreign, plainName } from "../parts/values.tsx";
import { scopeText } from "./callers.tsx";
import { PersonAccounts } from "./person-accounts.tsx";
import { SETTINGS_LIST } from "./resources.ts";

/** One person: their linked accounts, limits and keys. */
export function PersonPage() {
  const { id = "" } = useParams({ strict: false });
  const query = useJson<PersonView>(["person", id], `/admin/v1/people/${encodeURIComponent(id)}`, {
    refetchInterval: 10_000,
  });
  return (
    <>
      <PageHead
        title={query.data ? plainName(query.data.email) : "Person"}
        sub={<Link to="/settings/people">People and teams</Link>}
      >
        {query.data && (
          <Button
            renderRoot={(props) => (
              <Link to="/settings/people" search={{ edit: `person:${id}` }} {...props} />
            )}
            size="xs"
          >
            Change
          </Button>
        )}
      </PageHead>
      <Answered query={query}>
        {(person) => (
          <>
            <Facts className="panel" of={factsOf(person)} />
            <PersonAccounts person={person} />
            <Limits email={person.email} />
            <Keys email={person.email} />
          </>
        )}
      </Answered>
    </>
  );
}

const factsOf = ({ email, name, role, disabled, team, github_login: login }: PersonView) => ({
  "E-mail": <Foreign text={email} />,
  Name: <Foreign text={name} />,
  Role: (
    <>
      {role}
      {disabled && <span className="tag bad">disabled</span>}
    </>
  ),
  Team: team === null ? "no team" : <Foreign text={team} />,
  GitHub:
    login === null ? (
      "not linked"
    ) : (
      <Link to="/pull-requests" search={{ author: login }}>
        <Foreign text={login} />
      </Link>
    ),
  Calls: (
    <Link to="/requests" search={{ owner: email }}>
      Requests made with their keys
    </Link>
  ),
});

const WHOSE: Readonly<Record<BudgetView["kind"], string>> = {
  person: "All keys together",
  own_keys: "Keys that they made, together",
  key: "",
  team: "Team",
  budget: "",
};

const LIMIT_COLUMNS: Columns<BudgetView> = {
  of: text("Counts", ({ kind, name }) => WHOSE[kind] || name),
  used: money("Used", ({ used_usd: used }) => used),
  budget: money("Budget", ({ budget_usd: usd }) => usd),
  period: text("Per", ({ period }) => period),
};

/** The budgets that the person's calls count in, besides their team's. */
function Limits({ email }: { email: string }) {
  const query = useJson<Budgets>(["budgets", "all"], "/admin/v1/budgets", { refetchInterval: 10_000 });
  return (
    <Panel title="Budgets" sub="The calls also count in the budgets of the team and of the teams above it.">
      <Answered query={query}>
        {({ data }) => (
          <DataTable
            label="Budgets"
            columns={LIMIT_COLUMNS}
            rows={data.filter(({ owner }) => owner?.toLowerCase() === email)}
            rowKey={["kind", "name", "budget_usd", "period"]}
            none={
              <Empty title="No budget">Set one with Change, on a key, or in the template for own keys.</Empty>
            }
          />
        )}
      </Answered>
    </Panel>
  );
}

const KEY_COLUMNS: Columns<KeyView> = {
  name: opens(
    "Name",
    ({ name }) => name,
    ({ id }) => ({ to: "/settings/keys", search: { edit: `key:${id}` } }),
  ),
  scopes: text("May use", scopeText, "everything"),
  status: text("Status", ({ status }) => status),
  created: moment("Created", ({ created_at: at }) => at),
  expires: moment("Expires", ({ expires_at: at }) => at, "never"),
};

function Keys({ email }: { email: string }) {
  const list = useList<KeyView>({ path: "/admin/v1/keys", filters: { owner: email }, ...SETTINGS_LIST });
  return (
    <Panel title="Keys" sub="With this person as their owner, revoked ones included.">
      <ListPage
        list={list}
        none={
          <Empty title="No keys">
            They make their own on My usage, or you add one with them as its owner.
          </Empty>
        }
      >
        {(rows) => <DataTable label="Keys" columns={KEY_COLUMNS} rows={rows} rowKey={["id"]} />}
      </ListPage>
    </Panel>
  );
}
