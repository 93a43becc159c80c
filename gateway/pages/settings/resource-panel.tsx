import { Button, FocusTrap, Group, Modal } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useAddress } from "../data/address.ts";
import { listSearch } from "../data/list-search.ts";
import { useList } from "../data/records.ts";
import { announce } from "../parts/announce.tsx";
import type { Column, Columns } from "../parts/columns.tsx";
import { FindTable } from "../parts/find-table.tsx";
import { ListPage } from "../parts/list-page.tsx";
import { Empty, PageHead, Panel } from "../parts/page.tsx";
import { plainName } from "../parts/values.tsx";
import { DeleteButton } from "./delete-button.tsx";
import type { Form } from "./forms/field.ts";
import { ResourceForm } from "./forms/resource-form.tsx";
import { SETTINGS_LIST, useChange } from "./resources.ts";
import { type SpendFacts, useSpendColumns } from "./spend.tsx";

/** A resource of the admin API: how it is listed, entered and deleted. */
export type ResourceFacts<View> = {
  /** The list's address. */
  path: string;
  /** Heading of the panel, and the noun of one, such as `provider`. */
  title: string;
  noun: string;
  sub?: string;
  /** What distinguishes it in its address and for people. Default: its id, else its name, and its name. */
  idOf?: (view: View) => string;
  nameOf?: (view: View) => string;
  columns: Columns<View>;
  form: Form;
  /** The cost of the month is beside the first column, the latest use at the end. */
  spend?: SpendFacts<View>;
  /** Which of the loaded ones are shown, in which order. Default: all, as the API lists them. */
  pick?: (views: readonly View[]) => readonly View[];
  /** What an empty list says. */
  empty: string;
  removal: { verb: string; effect: string };
  /** What a new or changed one shows once, such as a secret. */
  shown?: (answer: Readonly<Record<string, unknown>>) => ReactNode;
  /** Beside the button that adds one. */
  aside?: ReactNode;
  actions?: (view: View) => ReactNode;
  isFixed?: (view: View) => boolean;
  /** What is kept elsewhere has no dialogue here. */
  isElsewhere?: (view: View) => boolean;
};

const nameIn = (view: object): string => ("name" in view ? String(view.name) : "");
const idIn = (view: object): string => ("id" in view ? String(view.id) : nameIn(view));

const readSearch = listSearch(["edit", "add"]);

/** A list with a dialogue to add, change and delete. Which dialogue is open is in the address. */
export function ResourcePanel<View extends object>({ facts }: { facts: ResourceFacts<View> }) {
  return (
    <Panel title={facts.title} sub={facts.sub} aside={<AddButton facts={facts} />}>
      <Resources facts={facts} />
    </Panel>
  );
}

/** The same as the first part of a page, whose title it has. */
export const ResourcePage = <View extends object>({ facts }: { facts: ResourceFacts<View> }) => (
  <>
    <PageHead title={facts.title} sub={facts.sub}>
      <AddButton facts={facts} />
    </PageHead>
    <Resources facts={facts} />
  </>
);

function AddButton<View>({ facts: { noun, aside } }: { facts: ResourceFacts<View> }) {
  const [, change] = useAddress(readSearch);
  return (
    <>
      {aside}
      <Button variant="filled" size="compact-sm" onClick={() => change({ add: noun, edit: undefined })}>
        Add {noun}
      </Button>
    </>
  );
}

function Resources<View extends object>({ facts }: { facts: ResourceFacts<View> }) {
  const { idOf = idIn } = facts;
  const list = useList<View>({ path: facts.path, ...SETTINGS_LIST });
  const [{ edit, add }, change] = useAddress(readSearch);
  const edited = list.items?.find((view) => edit === `${facts.noun}:${idOf(view)}`);
  const isMissing = edit?.startsWith(`${facts.noun}:`) && !edited && list.items && !list.hasNextPage;
  const close = () => change({ edit: undefined, add: undefined }, { replace: true });
  return (
    <>
      <ListPage list={list} none={<Empty title={`No ${facts.title.toLowerCase()} yet`}>{facts.empty}</Empty>}>
        {(rows) => <Rows facts={facts} rows={facts.pick?.(rows) ?? rows} />}
      </ListPage>
      {isMissing && (
        <p className="note" role="alert">
          There is no such {facts.noun}. It may have been deleted.
        </p>
      )}
      <Dialogue facts={facts} view={edited ?? null} isNew={add === facts.noun} close={close} />
    </>
  );
}

function Rows<View extends object>({ facts, rows }: { facts: ResourceFacts<View>; rows: readonly View[] }) {
  const { title, noun, idOf = idIn } = facts;
  const { used, ...month } = useSpendColumns(facts.spend);
  const [[name, first] = [], ...others] = Object.entries(facts.columns);
  if (!name || !first) return null;
  const opened = { [name]: opening(first, facts) };
  const columns = { ...opened, ...month, ...Object.fromEntries(others), ...(used && { used }) };
  return <FindTable label={title} noun={noun} columns={columns} rows={rows} rowKey={idOf} />;
}

/** The first column opens the row's dialogue. */
const opening = <View extends object>(
  first: Column<View>,
  { noun, idOf = idIn, isElsewhere }: ResourceFacts<View>,
): Column<View> => ({
  ...first,
  cell: (view) =>
    isElsewhere?.(view) ? (
      first.cell(view)
    ) : (
      <Link
        to="."
        search={(before) => ({ ...before, edit: `${noun}:${idOf(view)}`, add: undefined })}
        className="row-link"
        resetScroll={false}
      >
        {first.cell(view)}
      </Link>
    ),
});

type DialogueProps<View> = {
  facts: ResourceFacts<View>;
  view: View | null;
  isNew: boolean;
  close: () => void;
};

function Dialogue<View extends object>({ facts, view, isNew, close }: DialogueProps<View>) {
  const { idOf = idIn, nameOf = nameIn } = facts;
  const change = useChange(facts.path);
  const [shown, setShown] = useState<ReactNode>(null);
  const end = () => {
    setShown(null);
    close();
  };
  const place = view ? `/${encodeURIComponent(idOf(view))}` : "";
  const save = async (body: Record<string, unknown>) => {
    // Nothing was changed.
    if (view && Object.keys(body).length === 0) return end();
    const method = view ? (facts.form.replaces ? "PUT" : "PATCH") : "POST";
    const answer = await change<Record<string, unknown>>(place, { method, body });
    const once = facts.shown?.(answer);
    if (once) return setShown(once);
    end();
    announce(view ? `${plainName(nameOf(view))} was saved.` : `The ${facts.noun} was added.`);
  };
  const remove = async () => {
    await change(place, { method: "DELETE" });
    end();
  };
  const title = view ? `Edit ${facts.noun} ${plainName(nameOf(view))}` : `Add ${facts.noun}`;
  return (
    <Modal opened={isNew || view !== null || shown !== null} onClose={end} title={title} size="lg">
      {shown ?? (
        <>
          <FocusTrap.InitialFocus />
          {view && facts.actions?.(view)}
          {(view === null || facts.form.change) && (
            <ResourceForm
              key={view ? idOf(view) : "new"}
              form={facts.form}
              // A resource of the API is an object; the form reads only the members that it has fields for.
              view={view as Readonly<Record<string, unknown>> | null}
              action={view ? "Save" : `Add ${facts.noun}`}
              save={save}
              cancel={end}
            />
          )}
          {view && !facts.isFixed?.(view) && (
            <Group mt="md">
              <DeleteButton name={nameOf(view)} {...facts.removal} remove={remove} />
            </Group>
          )}
        </>
      )}
    </Modal>
  );
}
