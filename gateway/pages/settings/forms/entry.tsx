import { Button, Fieldset, Group, Input, Switch } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Fault } from "#shared/schema.ts";
import { ChooseFile } from "../../parts/act.tsx";
import { Control, type EntryProps, helpText } from "./controls.tsx";
import { type Drafts, draftOf, draftsOf, groupIn, listIn, newDraft } from "./draft.ts";
import { faultAt, partOf } from "./faults.ts";
import type { Field } from "./field.ts";

type FieldsProps = {
  fields: readonly Field[];
  drafts: Drafts;
  place: string;
  faults: readonly Fault[];
  change: (drafts: Drafts) => void;
};

export const Fields = ({ fields, drafts, place, faults, change }: FieldsProps) =>
  fields.map((field) => {
    const { [field.name]: draft = "" } = drafts;
    const entry = {
      field,
      draft,
      beside: drafts,
      place: partOf(place, field.name),
      faults,
      change: (entered: typeof draft) => change({ ...drafts, [field.name]: entered }),
    };
    if (field.kind === "group") return <Members key={field.name} {...entry} />;
    const Entry = field.entry ? List : Control;
    return <Entry key={field.name} {...entry} />;
  });

type SeveralProps = { field: Field; fault: string | undefined; children: ReactNode };

/** A frame around fields, with what is wrong with them together. */
const Several = ({ field, fault, children }: SeveralProps) => (
  <Fieldset legend={field.label} mb="md">
    {field.help && <Input.Description mb="sm">{helpText(field)}</Input.Description>}
    {children}
    {fault && <Input.Error mt="sm">{fault}</Input.Error>}
  </Fieldset>
);

const partsOf = ({ members }: Field, place: string): string[] =>
  members.map(({ name }) => partOf(place, name));

/** Fields that belong together. If there is a switch, there are none without it. */
const Members = ({ field, draft, place, faults, change }: EntryProps) => (
  <Several field={field} fault={faultAt(faults, place, partsOf(field, place))}>
    {field.toggle && (
      <Switch
        label={field.toggle}
        checked={draft !== null}
        onChange={(event) => change(event.currentTarget.checked ? draftsOf(field.members, null) : null)}
        mb="md"
      />
    )}
    {draft !== null && (
      <Fields fields={field.members} drafts={groupIn(draft)} place={place} faults={faults} change={change} />
    )}
  </Several>
);

/** Entries that can be added, removed and moved. */
function List({ field, draft, place, faults, change }: EntryProps) {
  const { label, kind, entry, item = "entry" } = field;
  if (!entry) return null;
  const rows = listIn(draft);
  // The gateway names pairs by their names.
  const places = rows.map((row, at) => partOf(place, String(kind === "pairs" ? groupIn(row)["name"] : at)));
  const moved = (at: number) => rows.toSpliced(at - 1, 2, ...rows.slice(at - 1, at + 1).reverse());
  return (
    <Several field={field} fault={faultAt(faults, place, places)}>
      {rows.map((row, at) => (
        <div key={partOf(place, String(at))} className="form-row">
          <Row
            field={{ ...entry, label: `${label}, ${at + 1}` }}
            draft={row}
            place={places[at] ?? place}
            faults={faults}
            change={(changed) => change(rows.with(at, changed))}
          />
          {kind === "list" && at > 0 && (
            <Button aria-label={`Move ${item} ${at + 1} up`} onClick={() => change(moved(at))}>
              ↑
            </Button>
          )}
          <Button aria-label={`Remove ${item} ${at + 1}`} onClick={() => change(rows.toSpliced(at, 1))}>
            Remove
          </Button>
        </div>
      ))}
      <Group>
        <Button size="compact-sm" onClick={() => change([...rows, newDraft(entry)])}>
          Add {item}
        </Button>
        {kind === "json" && <LoadDocument load={(text) => change(draftOf(field, JSON.parse(text)))} />}
      </Group>
    </Several>
  );
}

/** Takes the values of a file of JSON. */
function LoadDocument({ load }: { load: (text: string) => void }) {
  const [isWrong, setWrong] = useState(false);
  const read = async (file: File) => {
    try {
      load(await file.text());
      setWrong(false);
    } catch {
      setWrong(true);
    }
  };
  return (
    <>
      <ChooseFile accept="application/json,.json" choose={(file) => void read(file)}>
        {(props) => (
          <Button size="compact-sm" {...props}>
            Load a file
          </Button>
        )}
      </ChooseFile>
      {isWrong && <Input.Error>The file is not JSON.</Input.Error>}
    </>
  );
}

function Row(props: EntryProps) {
  const { field, draft, place, faults } = props;
  if (field.kind !== "group") return <Control {...props} />;
  const fault = faultAt(faults, place, partsOf(field, place));
  return (
    <>
      <Fields {...props} fields={field.members} drafts={groupIn(draft)} />
      {fault && <Input.Error className="form-row-error">{fault}</Input.Error>}
    </>
  );
}
