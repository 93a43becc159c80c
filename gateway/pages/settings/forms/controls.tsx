import {
  Autocomplete,
  Checkbox,
  Group,
  NativeSelect,
  PasswordInput,
  Switch,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Fault } from "#shared/schema.ts";
import { withCode } from "../../parts/values.tsx";
import { codeWords } from "../../parts/words.ts";
import { type Draft, type Drafts, isOptionalChoice, listIn } from "./draft.ts";
import { faultAt } from "./faults.ts";
import type { Field } from "./field.ts";
import { useSuggested } from "./suggested.ts";

export type EntryProps = {
  field: Field;
  draft: Draft;
  /** What is entered in the fields beside it. */
  beside?: Drafts;
  /** Where its value is in the body, such as `/limits/budget_usd`. */
  place: string;
  faults: readonly Fault[];
  change: (draft: Draft) => void;
};

export const helpText = ({ help }: Field): ReactNode => help && withCode(help);

const labelled = ({ field, place, faults }: EntryProps) => ({
  label: field.label,
  description: helpText(field),
  error: faultAt(faults, place),
  mb: "md",
});

export function Control(props: EntryProps) {
  const { kind } = props.field;
  if (kind === "choices") return <Choices {...props} />;
  if (kind === "choice") return <Choice {...props} />;
  if (kind !== "switch") return <TextControl {...props} />;
  return (
    <Switch
      {...labelled(props)}
      checked={props.draft === true}
      onChange={(event) => props.change(event.currentTarget.checked)}
    />
  );
}

const Choices = (props: EntryProps) => (
  <Checkbox.Group
    {...labelled(props)}
    value={listIn(props.draft).map(String)}
    onChange={(chosen) => props.change(chosen)}
  >
    <Group mt="xs" gap="md">
      {props.field.schema["items"].enum.map((name: string) => (
        <Checkbox key={name} value={name} label={codeWords(name)} />
      ))}
    </Group>
  </Checkbox.Group>
);

const YES_OR_NO = [
  { value: "true", label: "yes" },
  { value: "false", label: "no" },
];

function Choice(props: EntryProps) {
  const { field, draft, change } = props;
  const names: string[] | undefined = field.schema["enum"];
  const none = isOptionalChoice(field) ? [{ value: "", label: field.none ?? "none" }] : [];
  return (
    <NativeSelect
      {...labelled(props)}
      value={String(draft)}
      onChange={(event) => change(event.currentTarget.value)}
      data={[...none, ...(names?.map((name) => ({ value: name, label: codeWords(name) })) ?? YES_OR_NO)]}
    />
  );
}

/** A control for text, and a box for what nothing entered cannot say. */
function TextControl(props: EntryProps) {
  const { field, draft, change } = props;
  const { nothing } = field;
  if (!nothing || (draft !== "" && draft !== null)) return <TextEntry {...props} />;
  return (
    <>
      <TextEntry {...props} />
      <Checkbox
        label={nothing}
        checked={draft === null}
        onChange={(event) => change(event.currentTarget.checked ? null : "")}
        mb="md"
      />
    </>
  );
}

const INPUT_MODES: Partial<Record<Field["kind"], "numeric" | "decimal">> = {
  integer: "numeric",
  decimal: "decimal",
};

/** How many are shown at once, of those that contain what is typed. */
const SUGGESTED_MAX = 50;

function TextEntry(props: EntryProps) {
  const { kind, schema, placeholder, isRequired, suggest } = props.field;
  const isDay = /^date/.test(schema["format"] ?? "");
  const [isUsed, setUsed] = useState(false);
  const data = useSuggested(suggest, isUsed, props.beside?.["provider"]);
  const entry = {
    ...labelled(props),
    ...(placeholder && { placeholder }),
    required: isRequired,
    // Of an instant its day, of UTC.
    value: String(props.draft ?? "").slice(0, isDay ? "2026-11-01".length : undefined),
    onChange: (event: { currentTarget: { value: string } }) => props.change(event.currentTarget.value),
    autoComplete: "off",
    spellCheck: false,
  };
  const chosen = { data, limit: SUGGESTED_MAX, onFocus: () => setUsed(true) };
  if (suggest && kind === "lines") {
    const lines = entry.value.split("\n").filter((line) => line !== "");
    return (
      <TagsInput {...entry} {...chosen} value={lines} onChange={(all) => props.change(all.join("\n"))} />
    );
  }
  if (suggest) return <Autocomplete {...entry} {...chosen} onChange={props.change} />;
  // Unlike the others, it does not say itself that it is invalid.
  if (kind === "secret") return <PasswordInput {...entry} aria-invalid={Boolean(entry.error)} />;
  if (kind === "area" || kind === "lines") {
    return <Textarea {...entry} autosize minRows={2} maxRows={12} />;
  }
  return <TextInput {...entry} type={isDay ? "date" : "text"} inputMode={INPUT_MODES[kind] ?? "text"} />;
}
