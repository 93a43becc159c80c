import { shortMoment } from "./dates.ts";
import { Foreign } from "./values.tsx";

const MOMENT = /^\d{4}-\d\d-\d\dT/;

type Chip = { name: string; word: string; value: string; shown?: string; title?: string | undefined };
type ChipsProps = { chips: readonly Chip[]; remove: (name: string, value: string) => void };

/** What a page is narrowed to; each part can be taken away. */
export function Chips({ chips, remove }: ChipsProps) {
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
              shown: MOMENT.test(value) ? shortMoment(value) : value,
            },
          ],
    )}
    remove={remove}
  />
);
