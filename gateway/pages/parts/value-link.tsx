import { Foreign } from "./foreign.tsx";
import { Unknown } from "./money.tsx";

type ValueLinkProps = { text: string | null; choose: (value: string) => void; none?: string };

/** A value that narrows the list to itself. */
export const ValueLink = ({ text, choose, none = "It has none." }: ValueLinkProps) =>
  text === null ? (
    <Unknown reason={none} />
  ) : (
    <button type="button" className="value-link" onClick={() => choose(text)}>
      <Foreign text={text} />
    </button>
  );
