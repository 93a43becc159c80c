import { Autocomplete, Button, Popover, Select } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { DimensionName, Spec } from "#shared/report.ts";
import { dimensionWord } from "#shared/report-words.ts";
import { useReport } from "../data/reports.ts";
import type { ChangeSpec, SpecSearch } from "../data/spec-search.ts";
import { narrowed } from "../parts/filter-chips.tsx";

type FilterAdderProps = {
  spec: Spec;
  dimensions: readonly DimensionName[];
  search: SpecSearch;
  change: ChangeSpec;
};

/** Narrows the report by a label and one of its values of the range. */
export function FilterAdder(props: FilterAdderProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" size="xs" onClick={() => setOpen((is) => !is)}>
          Add filter
        </Button>
      </Popover.Target>
      <Popover.Dropdown>{isOpen && <FilterForm {...props} close={() => setOpen(false)} />}</Popover.Dropdown>
    </Popover>
  );
}

const VALUES_MAX = 200;

function FilterForm({ spec, dimensions, search, change, close }: FilterAdderProps & { close: () => void }) {
  const [name, setName] = useState<DimensionName>(dimensions[0] ?? "client");
  const [value, setValue] = useState("");
  const values = useReport({ ...spec, dimensions: [name], compare: "none", view: "table", filters: {} });
  const known = (values.data?.rows ?? []).flatMap(({ groups: [group] }) => group ?? []);
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (value === "") return;
    change(narrowed(search, name, value));
    close();
  };
  return (
    <form onSubmit={add} style={{ width: 260 }}>
      <Select
        label="Label"
        size="xs"
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        data={dimensions.map((it) => ({ value: it, label: dimensionWord(it) }))}
        value={name}
        onChange={(chosen) => {
          setName(dimensions.find((it) => it === chosen) ?? name);
          setValue("");
        }}
      />
      <Autocomplete
        label="Value"
        size="xs"
        mt="sm"
        comboboxProps={{ withinPortal: false }}
        limit={VALUES_MAX}
        data={[...new Set(known)]}
        value={value}
        onChange={setValue}
      />
      <Button type="submit" size="xs" fullWidth mt="md" disabled={value === ""}>
        Filter
      </Button>
    </form>
  );
}
