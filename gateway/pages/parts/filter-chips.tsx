import { dimensionWord } from "#shared/report-words.ts";
import { FILTER_NAMES, type FilterName, type FrameSearch } from "../data/search.ts";
import { Foreign } from "./foreign.tsx";

type FilterChipsProps = {
  search: FrameSearch;
  change: (change: Partial<Record<FilterName, string[] | undefined>>) => void;
  /** Filters that what is shown here cannot take, with the reason. */
  idle?: (name: FilterName) => string | null;
};

/** What the page is narrowed to; each part can be taken away. */
export function FilterChips({ search, change, idle = () => null }: FilterChipsProps) {
  const chips = FILTER_NAMES.flatMap((name) => (search[name] ?? []).map((value) => ({ name, value })));
  if (chips.length === 0) return null;
  const without = (name: FilterName, value: string) => {
    const left = (search[name] ?? []).filter((it) => it !== value);
    change({ [name]: left.length > 0 ? left : undefined });
  };
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ name, value }) => (
        <li key={`${name} ${value}`} className="chip" title={idle(name) ?? undefined}>
          <span>
            <span className="mute">{dimensionWord(name)} </span>
            <Foreign text={value} />
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${dimensionWord(name)}`}
            onClick={() => without(name, value)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The search with one more value of a filter, or with that alone. */
export const narrowed = (search: FrameSearch, name: FilterName, value: string): FrameSearch => ({
  ...search,
  [name]: [...new Set([...(search[name] ?? []), value])],
});
