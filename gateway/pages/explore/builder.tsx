import { MultiSelect, SegmentedControl, Select } from "@mantine/core";
import type { DimensionName, MeasureName, Spec } from "#shared/report.ts";
import type { ReportCatalogue } from "#shared/report-catalogue.ts";
import { dimensionWord, measureWord } from "#shared/report-words.ts";
import { type ChangeSpec, type SpecSearch, sourceIn, viewsOf } from "../data/spec-search.ts";
import { SOURCE_WORDS } from "../parts/words.ts";
import { FilterAdder } from "./filter-adder.tsx";

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
        // What the new source cannot answer falls away by itself.
        onChange={(name) => change({ source: catalogue.sources.find((it) => it.name === name)?.name })}
      />
      <Dimension spec={spec} place={0} legal={source?.dimensions ?? []} change={change} />
      <Dimension spec={spec} place={1} legal={source?.dimensions ?? []} change={change} />
      <Measures spec={spec} legal={source?.measures ?? []} catalogue={catalogue} change={change} />
      <div>
        <div className="field-label" id="view-label">
          View
        </div>
        <SegmentedControl
          size="xs"
          aria-labelledby="view-label"
          data={viewsOf(spec).map((view) => ({ value: view, label: VIEW_WORDS[view] }))}
          value={spec.view}
          onChange={(view) => change({ view: viewsOf(spec).find((it) => it === view) })}
        />
      </div>
      <FilterAdder spec={spec} dimensions={source?.dimensions ?? []} search={search} change={change} />
    </section>
  );
}

type DimensionProps = { spec: Spec; place: 0 | 1; legal: readonly DimensionName[]; change: ChangeSpec };

function Dimension({ spec: { dimensions }, place, legal, change }: DimensionProps) {
  const other = dimensions[1 - place];
  if (place === 1 && dimensions.length === 0) return null;
  const set = (name: string | null) => {
    const chosen = place === 0 ? [name, other] : [other, name];
    const left = chosen.filter((it): it is string => typeof it === "string");
    change({ by: left.length > 0 ? left : ["none"] });
  };
  return (
    <Select
      label={place === 0 ? "By" : "And by"}
      size="xs"
      clearable
      placeholder={place === 0 ? "Total only" : "Nothing else"}
      data={legal
        .filter((name) => name !== other)
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
