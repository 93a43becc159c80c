import { Button, Select, TextInput } from "@mantine/core";
import type { AuditValues, AuditView } from "#shared/admin/audit.ts";
import type { JsonDocument } from "#shared/admin/claude-settings.ts";
import { useAddress } from "../data/address.ts";
import { queryOf, useJson } from "../data/api.ts";
import { AUDIT_FILTERS, listSearch } from "../data/list-search.ts";
import { useList } from "../data/records.ts";
import { type Columns, cell, folded, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { shortMoment } from "../parts/dates.ts";
import { counted } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { EmptyPanel, PageHead } from "../parts/page.tsx";
import { Foreign, plainName } from "../parts/values.tsx";
import { rowsOf } from "./forms/document-rows.ts";
import { SETTINGS_LIST } from "./resources.ts";

const PATH = "/admin/v1/audit";
/** Filters whose values are those that there are entries of. */
const CHOSEN = ["actor", "action", "subject"] as const;
const readSearch = listSearch(Object.keys(AUDIT_FILTERS));

const inWords = (action: string): string => action.replaceAll(/[._]/g, " ");

type Difference = { name: string; from: string | null; to: string | null };

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The values in a state by name, such as `match.pattern`. Absent and null are the same to a reader: nothing is set. */
const valuesIn = (state: AuditView["before"]): Map<string, string> =>
  new Map(
    // A state is JSON.
    rowsOf((state ?? {}) as JsonDocument)
      .filter(({ kind }) => kind !== "null")
      .map(({ name, kind, value }) => [
        name,
        value === "" ? kind : INSTANT.test(value) ? shortMoment(value) : value.replaceAll("\n", ", "),
      ]),
  );

/** Members that a change has set, from what to what. The entry itself says when, and of what. */
function changesOf({ before, after }: AuditView): Difference[] {
  const [was, is] = [valuesIn(before), valuesIn(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .map((name) => ({ name, from: was.get(name) ?? null, to: is.get(name) ?? null }))
    .filter(({ name, from, to }) => from !== to && !["id", "created_at", "updated_at"].includes(name));
}

/** A long entry is opened by a click: most readers look for another one. */
const SHOWN_MAX = 3;

function Changes({ entry }: { entry: AuditView }) {
  const changes = changesOf(entry);
  if (changes.length === 0) return <span className="mute">–</span>;
  const more = changes.slice(SHOWN_MAX);
  return (
    <>
      <Differences of={changes.slice(0, SHOWN_MAX)} />
      {more.length > 0 && (
        <details>
          <summary className="link small">{counted(more.length, "more change")}</summary>
          <Differences of={more} />
        </details>
      )}
    </>
  );
}

/** From what to what; what did not exist before needs no arrow. */
const Differences = ({ of }: { of: readonly Difference[] }) => (
  <ul className="changes">
    {of.map(({ name, from, to }) => (
      <li key={name}>
        {inWords(name)}: {from !== null && <Foreign text={from} whole />}
        {from !== null && " → "}
        {to === null ? <span className="mute">none</span> : <Foreign text={to} whole />}
      </li>
    ))}
  </ul>
);

const COLUMNS: Columns<AuditView> = {
  at: moment("When", ({ at }) => at),
  action: folded(text("What", ({ action }) => inWords(action))),
  subject: folded(text("On", ({ subject }) => subject)),
  changes: cell("Change", (entry) => <Changes entry={entry} />),
  actor: text("Who", ({ actor }) => actor),
  address: text("Address", ({ address }) => address, "this machine"),
};

export function AuditPage() {
  const [search, change] = useAddress(readSearch);
  const list = useList<AuditView>({ path: PATH, filters: search, ...SETTINGS_LIST, isWhole: false });
  const { data: values } = useJson<AuditValues>(["audit", "values"], `${PATH}/values`);
  const choices = { actor: values?.actors, action: values?.actions, subject: values?.subjects } as const;
  return (
    <>
      <PageHead title="Audit log" sub="Entries are kept for 400 days and cannot be changed.">
        <Button component="a" size="xs" href={`${PATH}${queryOf({ ...search, format: "ndjson" })}`}>
          Download
        </Button>
      </PageHead>
      <div className="panel builder">
        {CHOSEN.map((name) => (
          <Select
            key={name}
            label={AUDIT_FILTERS[name]}
            placeholder="Any"
            searchable
            clearable
            limit={100}
            data={[
              ...new Set([...(choices[name] ?? []), ...(search[name] === undefined ? [] : [search[name]])]),
            ].map((value) => ({ value, label: name === "action" ? inWords(value) : plainName(value) }))}
            value={search[name] ?? null}
            onChange={(value) => change({ [name]: value ?? undefined })}
            clearButtonProps={{ "aria-label": `Any: ${AUDIT_FILTERS[name]}` }}
          />
        ))}
        {(["from", "to"] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={AUDIT_FILTERS[name]}
            value={search[name]?.slice(0, 10) ?? ""}
            onChange={(event) => change({ [name]: event.currentTarget.value || undefined })}
          />
        ))}
      </div>
      <ListPage list={list} none={<EmptyPanel title="No entry">No change matches these filters.</EmptyPanel>}>
        {(rows) => <DataTable label="Audit log" columns={COLUMNS} rows={rows} rowKey={["id"]} />}
      </ListPage>
    </>
  );
}
