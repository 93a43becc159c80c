import { dimensionWord } from "#shared/report-words.ts";
import { FILTER_NAMES, type FilterName, type FrameSearch } from "../data/search.ts";
import { calendarDay, longTimeGroup } from "./dates.ts";
import type { Frame } from "./frame-controls.tsx";
import { Foreign } from "./values.tsx";

const MOMENT = /^\d{4}-\d\d-\d\d(T|$)/;

type Chip = { name: string; word: string; value: string; shown?: string; title?: string | undefined };
type ChipsProps = { chips: readonly Chip[]; remove: (name: string, value: string) => void };

/** What a page is narrowed to; each part can be taken away. */
function Chips({ chips, remove }: ChipsProps) {
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ name, word, value, shown = value, title }) => (
        <li key={`${name} ${value}`} className="chip" title={title}>
          <span>
            <span className="mute">{word} </span>
            <Foreign text={shown} />
          </span>
          <button type="button" aria-label={`Remove the filter ${word}`} onClick={() => remove(name, value)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

type ValueChipsProps = {
  /** Names of filters and what they are called. */
  words: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string | undefined>>;
  remove: (name: string) => void;
};

/** What a list is narrowed to, one value of each kind. */
export const ValueChips = ({ words, values, remove }: ValueChipsProps) => (
  <Chips
    chips={Object.entries(values).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [
            {
              name,
              word: words[name] ?? name,
              value,
              shown: MOMENT.test(value) ? calendarDay(value) : value,
            },
          ],
    )}
    remove={remove}
  />
);

/** What the page is narrowed to. */
export function FilterChips({ search, change }: Frame) {
  const chips = FILTER_NAMES.flatMap((name) =>
    (search[name] ?? []).map((value) => ({
      name,
      word: dimensionWord(name),
      value,
      shown: longTimeGroup(name, value),
    })),
  );
  const without = (name: string, value: string) => {
    const filter = FILTER_NAMES.find((it) => it === name);
    const left = filter ? (search[filter] ?? []).filter((it) => it !== value) : [];
    change({ [name]: left.length > 0 ? left : undefined });
  };
  return <Chips chips={chips} remove={without} />;
}

/** The search with one more value of a filter, or with that alone. */
export const narrowed = (search: FrameSearch, name: FilterName, value: string): FrameSearch => ({
  ...search,
  [name]: [...new Set([...(search[name] ?? []), value])],
});
