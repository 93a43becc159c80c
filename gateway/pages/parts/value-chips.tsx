import { Foreign } from "./foreign.tsx";

type ValueChipsProps = {
  /** Names of filters and what they are called. */
  words: Readonly<Record<string, string>>;
  values: Readonly<Record<string, string | undefined>>;
  remove: (name: string) => void;
};

/** What a list is narrowed to, one value of each kind. */
export function ValueChips({ words, values, remove }: ValueChipsProps) {
  const chips = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ name, value }) => (
        <li key={name} className="chip">
          <span>
            <span className="mute">{words[name] ?? name} </span>
            <Foreign text={value} />
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${words[name] ?? name}`}
            onClick={() => remove(name)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
