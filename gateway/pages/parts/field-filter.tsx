import { Autocomplete, Button, NativeSelect, type OptionsFilter } from "@mantine/core";
import { useState } from "react";
import type { SourceName } from "#shared/report.ts";
import { useSuggestions } from "./suggestions.ts";
import { TypedForm } from "./typed-form.tsx";

type FieldFilterProps = {
  words: Readonly<Record<string, string>>;
  choose: (name: string, value: string) => void;
  /** Where values to suggest are from. */
  source: SourceName;
  /** Values of filters that are known already. */
  values?: Readonly<Record<string, readonly string[]>>;
  /** Opens the page of an id that is typed. */
  open?: ((id: string) => void) | undefined;
};

const SUGGESTED_MAX = 20;

/** Those that begin with the text, and then those that contain it. */
const startingFirst: OptionsFilter = ({ options, search, limit }) => {
  const text = search.trim().toLowerCase();
  const at = (option: (typeof options)[number]) =>
    "label" in option ? option.label.toLowerCase().indexOf(text) : -1;
  const begins = options.filter((option) => at(option) === 0);
  return [...begins, ...options.filter((option) => at(option) > 0)].slice(0, limit);
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Narrows a list by a field and its exact value, which can be chosen by its beginning. */
export function FieldFilter({ words, choose, source, values = {}, open }: FieldFilterProps) {
  const [first = ""] = Object.keys(words).filter((name) => name !== "from" && name !== "to");
  const [name, setName] = useState(first);
  const [value, setValue] = useState("");
  const [isUsed, setUsed] = useState(false);
  const used = useSuggestions(source, name, isUsed && values[name] === undefined);
  const suggestions = [...(values[name] ?? used)];
  const submit = () => {
    const text = value.trim();
    if (text === "") return;
    if (open && ID.test(text)) open(text.toLowerCase());
    else choose(name, text);
    setValue("");
  };
  return (
    <TypedForm className="field-filter no-print" submit={submit}>
      <NativeSelect
        size="xs"
        aria-label="Field to filter by"
        data={Object.entries(words).map(([id, label]) => ({ value: id, label }))}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Autocomplete
        size="xs"
        data-search
        aria-label={`Value of ${words[name] ?? name}`}
        type={name === "from" || name === "to" ? "date" : "text"}
        placeholder={open ? "Value, start* or id" : "Value or start*"}
        limit={SUGGESTED_MAX}
        data={suggestions}
        filter={startingFirst}
        onFocus={() => setUsed(true)}
        value={value}
        onChange={setValue}
      />
      <Button size="xs" type="submit">
        Filter
      </Button>
    </TypedForm>
  );
}
