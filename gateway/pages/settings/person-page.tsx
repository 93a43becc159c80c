import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import type { Budgets, BudgetView } from "#shared/admin/budgets.ts";
import type { KeyView } from "#shared/admin/keys.ts";
import type { PersonView } from "#shared/admin/people.ts";
import { useList } from "../data/records.ts";
import { useJson } from "../data/use-json.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Foreign, plainName } from "../parts/foreign.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Money } from "../parts/money.tsx";
import { PageHead, Panel } from "../parts/page-head.tsx";
import { Answered, Empty } from "../parts/states.tsx";
import { momentColumn, textColumn } from "./cells.tsx";
import { scopeText } from "./key-facts.tsx";
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
            variant="default"
            size="xs"
          >
            Change
          </Button>
        )}
      </PageHead>
      <Answered query={query}>
        {(person) => (
          <>
            <Facts person={person} />
            <PersonAccounts person={person} />
            <Limits email={person.email} />
            <Keys email={person.email} />
          </>
        )}
      </Answered>
    </>
  );
}

const Facts = ({ person }: { person: PersonView }) => (
  <dl className="facts panel">
    <dt>E-mail</dt>
    <dd>
      <Foreign text={person.email} />
    </dd>
    <dt>Name</dt>
    <dd>
      <Foreign text={person.name} />
    </dd>
    <dt>Role</dt>
    <dd>
      {person.role}
      {person.disabled && <span className="tag bad">disabled</span>}
    </dd>
    <dt>Team</dt>
    <dd>{person.team === null ? "no team" : <Foreign text={person.team} />}</dd>
    <dt>GitHub</dt>
    <dd>
      {person.github_login === null ? (
        "not linked"
      ) : (
        <Link to="/pull-requests" search={{ author: person.github_login }}>
          <Foreign text={person.github_login} />
        </Link>
      )}
    </dd>
    <dt>Calls</dt>
    <dd>
      <Link to="/requests" search={{ owner: person.email }}>
        Requests made with their keys
      </Link>
    </dd>
  </dl>
);

const WHOSE: Readonly<Record<BudgetView["kind"], string>> = {
  person: "All keys together",
  own_keys: "Keys that they made, together",
  key: "",
  team: "Team",
  budget: "",
};

const LIMIT_COLUMNS: readonly Column<BudgetView>[] = [
  textColumn("of", "Counts", { of: ({ kind, name }) => WHOSE[kind] || name }),
  { id: "used", head: "Used", isNumber: true, cell: ({ used_usd: used }) => <Money value={used} /> },
  { id: "budget", head: "Budget", isNumber: true, cell: ({ budget_usd: usd }) => <Money value={usd} /> },
  textColumn("period", "Per", { of: ({ period }) => period }),
];

/** The budgets that the person's calls count in, besides their team's. */
function Limits({ email }: { email: string }) {
  const query = useJson<Budgets>(["budgets", "all"], "/admin/v1/budgets", { refetchInterval: 10_000 });
  return (
    <Panel title="Budgets" sub="The calls also count in the budgets of the team and of the teams above it.">
      <Answered query={query}>
        {({ data }) => {
          const own = data.filter(({ owner }) => owner?.toLowerCase() === email);
          return own.length === 0 ? (
            <Empty title="No budget">Set one with Change, on a key, or in the template for own keys.</Empty>
          ) : (
            <DataTable
              label="Budgets"
              columns={LIMIT_COLUMNS}
              rows={own}
              rowKey={({ kind, name, budget_usd: usd, period }) => `${kind} ${name} ${usd} ${period}`}
            />
          );
        }}
      </Answered>
    </Panel>
  );
}

const KEY_COLUMNS: readonly Column<KeyView>[] = [
  {
    id: "name",
    head: "Name",
    sort: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link className="row-link" to="/settings/keys" search={{ edit: `key:${id}` }}>
        <Foreign text={name} />
      </Link>
    ),
  },
  textColumn("scopes", "May use", { of: scopeText, none: "everything" }),
  textColumn("status", "Status", { of: ({ status }) => status }),
  momentColumn("created", "Created", { of: ({ created_at: at }) => at, none: "" }),
  momentColumn("expires", "Expires", { of: ({ expires_at: at }) => at, none: "It does not expire." }),
];

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
        {(rows) => <DataTable label="Keys" columns={KEY_COLUMNS} rows={rows} rowKey={({ id }) => id} />}
      </ListPage>
    </Panel>
  );
}
