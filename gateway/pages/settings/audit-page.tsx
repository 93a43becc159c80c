import { Button, Select, TextInput } from "@mantine/core";
import type { AuditValues, AuditView } from "#shared/admin/audit.ts";
import type { JsonDocument } from "#shared/admin/claude-settings.ts";
import { sentence } from "#shared/report-words.ts";
import { useAddress } from "../data/address.ts";
import { queryOf, useJson } from "../data/api.ts";
import { AUDIT_FILTERS, listSearch } from "../data/list-search.ts";
import { useList } from "../data/records.ts";
import { type Columns, cell, folded, moment, text } from "../parts/columns.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { calendarDay } from "../parts/dates.ts";
import { count, counted } from "../parts/format.ts";
import { ListPage } from "../parts/list-page.tsx";
import { EmptyPanel, PageHead } from "../parts/page.tsx";
import { shortId } from "../parts/short-id.tsx";
import { Foreign, plainName } from "../parts/values.tsx";
import { codeWords } from "../parts/words.ts";
import * as BILLS from "./forms/bill-forms.ts";
import * as CALLS from "./forms/call-forms.ts";
import { rowsOf } from "./forms/document-rows.ts";
import { labelOf } from "./forms/faults.ts";
import { type Field, type Form, fieldAt } from "./forms/field.ts";
import * as PEOPLE from "./forms/people-forms.ts";
import { SETTINGS_LIST } from "./resources.ts";

const PATH = "/admin/v1/audit";
/** Filters whose values are those that there are entries of. */
const CHOSEN = ["actor", "action", "subject"] as const;
const readSearch = listSearch(Object.keys(AUDIT_FILTERS));

const FORMS: Readonly<Record<string, Pick<Form, "fields">>> = { ...BILLS, ...CALLS, ...PEOPLE };

/** The fields in which what an entry is of is entered: its members are called as there. */
function fieldsOf({ action }: AuditView): readonly Field[] {
  const name = action.replace(/^mcp/, "tool").replace(/\..*/, "").toUpperCase();
  const forms = Object.keys(FORMS).filter((it) => it === name || it.endsWith(`_${name}`));
  return forms.flatMap((it) => FORMS[it]?.fields ?? []);
}

const actionWords = (action: string): string =>
  sentence(action.replace(/^mcp/, "tool").replaceAll(".", "_")).replace("Github app", "GitHub App");

type Difference = { name: string; from: string | null; to: string | null };

const DATE = /^\d{4}-\d\d(-\d\d(T[\d:.]+Z)?)?$/;
const CODES = /^[a-z]+(_[a-z]+)*$/;
const dated = (text: string): string => (DATE.test(text) ? calendarDay(text) : text);

/** Members that say when, of what and by whom, as the entry does. */
const KNOWN = ["id", "created_at", "updated_at", "actor", "maker", "changed_at"];

const EMPTY = ["text", "null", "empty group"];

/** The values in a state by name, such as `match.pattern`. Absent, null and empty are the same to a reader. */
const valuesIn = (state: AuditView["before"], fields: readonly Field[]): Map<string, string> =>
  new Map(
    // A state is JSON.
    rowsOf((state ?? {}) as JsonDocument)
      .filter(({ name, kind, value }) => !KNOWN.includes(name) && !(value === "" && EMPTY.includes(kind)))
      .map(({ name, kind, value }) => {
        if (value === "") return [name, kind.replace("empty list", "none")];
        if (kind === "number") return [name, count(value)];
        const field = fieldAt(fields, partsOf(name));
        const isFree = field ? field.kind !== "choice" && field.kind !== "choices" : NAMES.includes(name);
        const words = (line: string) => (!isFree && CODES.test(line) ? codeWords(line) : dated(line));
        return [name, value.split("\n").map(words).join(", ")];
      }),
  );

/** Items of a list are `[0]`, `[1]`. */
const partsOf = (name: string): string[] => name.replaceAll(/\[(\d+)\]/g, "$1").split(".");

/** Members that a change has set, from what to what, as the form has them. The entry itself says when, and of what. */
function changesOf(entry: AuditView): Difference[] {
  const fields = fieldsOf(entry);
  const [was, is] = [valuesIn(entry.before, fields), valuesIn(entry.after, fields)];
  const isSaid = (member: string, to: string | null) =>
    to === "none" || (NAMES.includes(member) && to === subjectOf(entry));
  const place = (name: string) => fields.findIndex((it) => it.name === partsOf(name)[0]) >>> 0;
  return [...new Set([...is.keys(), ...was.keys()])]
    .toSorted((a, b) => place(a) - place(b))
    .map((member) => {
      const unit = partsOf(member).join("_").replace(/_usd$/, ", USD");
      const name = labelOf(fields, partsOf(member)) ?? sentence(unit);
      return { member, name, from: was.get(member) ?? null, to: is.get(member) ?? null };
    })
    .filter(({ member, from, to }) => from !== to && !(from === null && isSaid(member, to)));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NAMES = ["name", "title", "email", "person", "model", "provider", "month", "group", "bucket"];

/** What an entry is of, by its name rather than by its id. */
function subjectOf(entry: AuditView): string {
  const { subject, action } = entry;
  const state = entry.after ?? entry.before ?? {};
  if (action === "settings.changed") return "";
  if (!UUID.test(subject)) return dated(subject);
  const name = NAMES.map((member) => state[member]).find((it) => typeof it === "string");
  return typeof name === "string" ? name : shortId(subject);
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
      <li key={`${name} ${from} ${to}`}>
        {name}: {from !== null && <Foreign text={from} whole />}
        {from !== null && " → "}
        {to === null ? <span className="mute">none</span> : <Foreign text={to} whole />}
      </li>
    ))}
  </ul>
);

const COLUMNS: Columns<AuditView> = {
  at: moment("When", ({ at }) => at),
  action: folded(text("What", ({ action }) => actionWords(action))),
  subject: folded(text("On", subjectOf)),
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
            ].map((value) => ({ value, label: name === "action" ? actionWords(value) : plainName(value) }))}
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
