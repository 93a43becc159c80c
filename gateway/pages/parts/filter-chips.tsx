import { dimensionWord } from "#shared/report-words.ts";
import { FILTER_NAMES, type FilterName, type FrameSearch } from "../data/search.ts";
import { longTimeGroup } from "./dates.ts";
import type { Frame } from "./frame-controls.tsx";
import { Chips } from "./value-chips.tsx";

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
