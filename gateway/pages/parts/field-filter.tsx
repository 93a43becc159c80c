import { Button, NativeSelect, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";

type FieldFilterProps = {
  words: Readonly<Record<string, string>>;
  choose: (name: string, value: string) => void;
  /** Opens the page of an id that is typed. */
  open?: (id: string) => void;
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Narrows a list by a field and its exact value. */
export function FieldFilter({ words, choose, open }: FieldFilterProps) {
  const [first = ""] = Object.keys(words).filter((name) => name !== "from" && name !== "to");
  const [name, setName] = useState(first);
  const [value, setValue] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const text = value.trim();
    if (text === "") return;
    if (open && ID.test(text)) open(text.toLowerCase());
    else choose(name, text);
    setValue("");
  };
  return (
    <form className="field-filter no-print" onSubmit={submit}>
      <NativeSelect
        size="xs"
        aria-label="Field to filter by"
        data={Object.entries(words).map(([id, label]) => ({ value: id, label }))}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        size="xs"
        data-search
        aria-label={`Value of ${words[name] ?? name}`}
        placeholder={open ? "Exact value, or a record's id" : "Exact value"}
        value={value}
        onChange={(event) => setValue(event.currentTarget.value)}
      />
      <Button size="xs" variant="default" type="submit">
        Filter
      </Button>
    </form>
  );
}
