import type { ReactNode } from "react";
import { Fragment, useEffect } from "react";

type PageHeadProps = { title: string; sub?: ReactNode; children?: ReactNode };

/** A page's title and controls. */
export function PageHead({ title, sub, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Tallygate`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
        {children}
      </header>
      {sub && <p className="page-sub">{sub}</p>}
    </>
  );
}

type PanelProps = { title: string; sub?: ReactNode; aside?: ReactNode; children: ReactNode };

/** A titled part of a page. */
export const Panel = ({ title, sub, aside, children }: PanelProps) => (
  <section className="panel" aria-label={title}>
    <div className="panel-head">
      <h2>{title}</h2>
      {aside}
      {sub && <p>{sub}</p>}
    </div>
    {children}
  </section>
);

/** One of the facts above a record. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <section className="tile" aria-label={name}>
    <div className="tile-name">{name}</div>
    <div className="tile-figure">{children}</div>
  </section>
);

type FactsProps = {
  /** Values by their names, which may repeat in a list. */
  of: Readonly<Record<string, ReactNode>> | readonly (readonly [name: string, value: ReactNode])[];
  className?: string;
};

/** Facts by their names; those without a value are left out. */
export const Facts = ({ of, className = "" }: FactsProps) => (
  <dl className={`facts ${className}`}>
    {(Array.isArray(of) ? of : Object.entries(of)).map(([name, value], at) =>
      value === null || value === undefined || value === false ? null : (
        // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the order is fixed.
        <Fragment key={at}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ),
    )}
  </dl>
);
