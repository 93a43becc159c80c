import {
  Autocomplete,
  Button,
  Input,
  MultiSelect,
  Popover,
  SegmentedControl,
  Select,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { DimensionName, MeasureName, Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { useReport } from "../data/reports.ts";
import { type ChangeSpec, inSource, type SpecSearch, sourceIn, viewsOf } from "../data/spec-search.ts";
import { narrowed } from "../parts/chips.tsx";
import { isoDay } from "../parts/dates.ts";
import { SOURCE_WORDS } from "../parts/words.ts";

type BuilderProps = { spec: Spec; catalogue: ReportCatalogue; search: SpecSearch; change: ChangeSpec };

const VIEW_WORDS = {
  table: "Table",
  bar: "Bars",
  line: "Line",
  stacked: "Stacked",
  waterfall: "Waterfall",
} as const satisfies Record<Spec["view"], string>;

/** Source, dimensions, measures and view; only what goes together is offered. */
export function Builder({ spec, catalogue, search, change }: BuilderProps) {
  const source = sourceIn(catalogue, spec.source);
  return (
    <section className="panel builder no-print" aria-label="Question">
      <Select
        label="Source"
        size="xs"
        allowDeselect={false}
        data={catalogue.sources.map(({ name }) => ({ value: name, label: SOURCE_WORDS[name] }))}
        value={spec.source}
        onChange={(name) =>
          change(
            inSource(
              search,
              catalogue.sources.find((it) => it.name === name),
            ),
          )
        }
      />
      {([0, 1, 2] as const).map((place) => (
        <Dimension key={place} {...{ spec, place, change }} legal={source?.dimensions ?? []} />
      ))}
      <Measures spec={spec} legal={source?.measures ?? []} catalogue={catalogue} change={change} />
      <div>
        <Input.Label id="view-label" labelElement="div" size="xs" display="block">
          View
        </Input.Label>
        <SegmentedControl
          size="xs"
          aria-labelledby="view-label"
          data={viewsOf(spec).map((view) => ({ value: view, label: VIEW_WORDS[view] }))}
          value={spec.view}
          onChange={(view) => change({ view: viewsOf(spec).find((it) => it === view) })}
        />
      </div>
      <FilterAdder spec={spec} dimensions={source?.dimensions ?? []} search={search} change={change} />
      <TextInput
        {...{
          type: "date",
          label: "As known on",
          size: "xs",
          title: "When the day began (UTC). Empty: now.",
        }}
        max={isoDay(Date.now())}
        value={search.as_of ?? ""}
        onChange={(event) => change({ as_of: event.currentTarget.value || undefined })}
      />
    </section>
  );
}

type DimensionProps = { spec: Spec; place: 0 | 1 | 2; legal: readonly DimensionName[]; change: ChangeSpec };

function Dimension({ spec: { dimensions }, place, legal, change }: DimensionProps) {
  if (place > dimensions.length) return null;
  const others = dimensions.filter((_, i) => i !== place);
  const set = (name: string | null) => {
    const left: string[] = others.toSpliced(place, 0, ...legal.filter((it) => it === name));
    change({ by: left.length > 0 ? left : ["none"] });
  };
  return (
    <Select
      label={place === 0 ? "By" : "And by"}
      size="xs"
      clearable
      placeholder={place === 0 ? "Total only" : "Nothing else"}
      data={legal
        .filter((name) => !others.includes(name))
        .map((name) => ({ value: name, label: dimensionWord(name) }))}
      value={dimensions[place] ?? null}
      onChange={set}
      clearButtonProps={{ "aria-label": "Clear" }}
    />
  );
}

type MeasuresProps = {
  spec: Spec;
  legal: readonly MeasureName[];
  catalogue: ReportCatalogue;
  change: ChangeSpec;
};

function Measures({ spec: { measures }, legal, catalogue, change }: MeasuresProps) {
  const meaning = (name: string) => catalogue.measures.find((it) => it.name === name)?.meaning;
  return (
    <MultiSelect
      label="Measures"
      size="xs"
      className="wide"
      searchable
      data={legal.map((name) => ({ value: name, label: measureWord(name) }))}
      value={[...new Set(measures)]}
      onChange={(names) => change({ measure: names.length > 0 ? names : undefined })}
      renderOption={({ option }) => (
        <div>
          {option.label}
          <div className="mute small">{meaning(option.value)}</div>
        </div>
      )}
    />
  );
}

type FilterAdderProps = {
  spec: Spec;
  dimensions: readonly DimensionName[];
  search: SpecSearch;
  change: ChangeSpec;
};

/** Narrows the report by a label and one of its values of the range. */
function FilterAdder(props: FilterAdderProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>
        <Button size="xs" onClick={() => setOpen((is) => !is)}>
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
      <Button variant="filled" type="submit" size="xs" fullWidth mt="md" disabled={value === ""}>
        Filter
      </Button>
    </form>
  );
}
