import type { ReactNode } from "react";
import { Foreign, Unknown } from "./values.tsx";

export type Narrow = (name: string, value: string) => void;

type ValueLinkProps = {
  text: string | null;
  choose: (value: string) => void;
  none?: string | undefined;
  children?: ReactNode;
};

/** A value that narrows the list to itself. */
export const ValueLink = ({ text, choose, none = "It has none.", children }: ValueLinkProps) =>
  text === null ? (
    <Unknown reason={none} />
  ) : (
    <button type="button" className="value-link" onClick={() => choose(text)}>
      {children ?? <Foreign text={text} />}
    </button>
  );

/** A list's filter values as such links; `none`: the reason for an empty list. */
export const valueLinks = (narrow: Narrow) => (name: string, text: string | null, none?: string) => (
  <ValueLink text={text} choose={(value) => narrow(name, value)} none={none} />
);
