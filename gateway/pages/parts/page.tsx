import { Alert, Button, Skeleton } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useEffect, useId, useLayoutEffect } from "react";
import { ApiError } from "../data/api.ts";
import { newStore, useStore } from "../data/store.ts";
import { CopyButton } from "./copy.tsx";

type PageHeadProps = { title: string; sub?: ReactNode; children?: ReactNode };

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

export const Tiles = ({ of }: { of: Readonly<Record<string, ReactNode>> }) => (
  <div className="tiles">
    {Object.entries(of).map(([name, value]) => (
      <section className="tile" aria-label={name} key={name}>
        <div className="tile-name">{name}</div>
        <div className="tile-figure">{value}</div>
      </section>
    ))}
  </div>
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

type FaultProps = { error: unknown; retry?: () => void };

/** What to do about a failure, by its status. `isRead`: of what a page shows, not of an action. */
function adviceOn(status: number, isRead: boolean): string {
  if (status === 403) return "An administrator can change what your role includes.";
  if (status === 404 && isRead) return "It may have been deleted, or it may belong to someone else.";
  if (status === 400 && isRead) return "Change the filters or the range.";
  if (status < 429) return isRead ? "" : "Nothing was changed.";
  const advice = "Try again. If it keeps failing, give the request id to an administrator.";
  return isRead ? advice : `Nothing was changed. ${advice}`;
}

/** What the page says of failures now, by the part that says it. */
const said = newStore<readonly { part: string; what: string }[]>([]);

/** Whether another part of the page says it already; null: nothing is to be said. */
export function useIsSaid(what: string | null): boolean {
  const part = useId();
  const first = useStore(said).find((it) => it.what === what);
  useLayoutEffect(() => {
    if (what === null) return;
    said.set([...said.get(), { part, what }]);
    return () => said.set(said.get().filter((it) => it.part !== part));
  }, [part, what]);
  return first !== undefined && first.part !== part;
}

/** That nothing answers. The page says it above all of its parts. */
export const UNREACHABLE = "unreachable";

/** What happened, what is safe, what to do, and the request id to copy. Parts of a page that fail alike say it once. */
export function Fault({ error, retry }: FaultProps) {
  const client = useQueryClient();
  const facts = error instanceof ApiError ? error.facts : null;
  const status = facts?.status ?? 0;
  // A report's members have the names of the address here.
  const message =
    error instanceof Error
      ? error.message.replace(/^spec\.(range\.|filters\.)?/, "")
      : "Something unexpected happened.";
  const isSaid = useIsSaid(retry ? (facts?.status === 0 ? UNREACHABLE : message) : null);
  if (isSaid) return <p className="mute">Not loaded.</p>;
  const again = () => {
    retry?.();
    void client.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
  };
  return (
    <Alert color="red" variant="outline" title={message} role="alert" mb="md">
      <p className="mute" style={{ margin: "0 0 8px" }}>
        {adviceOn(status, retry !== undefined)}
      </p>
      {/* The same question has the same answer. */}
      {retry && (status === 0 || status >= 429) && (
        <Button size="compact-sm" onClick={again} mr="sm">
          Try again
        </Button>
      )}
      {facts?.requestId && <CopyButton text={facts.requestId} label={`Copy request id ${facts.requestId}`} />}
    </Alert>
  );
}

type EmptyProps = { title: string; children: ReactNode; next?: ReactNode };

/** What is missing, and the next step. */
export const Empty = ({ title, children, next }: EmptyProps) => (
  <div className="empty">
    <b>{title}</b>
    <p>{children}</p>
    {next}
  </div>
);

/** Where a whole list or page has nothing to show. */
export const EmptyPanel = (props: EmptyProps) => (
  <div className="panel">
    <Empty {...props} />
  </div>
);

/** The next step where there is no call. */
export const CONNECT = (
  <>
    To make a call,{" "}
    <Link to="/me" className="link">
      connect an agent
    </Link>
    : it appears here as soon as it ends.
  </>
);

/** The room that data will take, so that nothing jumps when it arrives. */
export const Waiting = ({ height = 240, label = "Loading" }: { height?: number; label?: string }) => (
  <div role="status" aria-label={label}>
    <Skeleton height={height} radius={8} mb="md" />
  </div>
);

/** `isPlaceholderData`: the data answers the question before, and the new one is on its way. */
export type Asked<T> = {
  data: T | undefined;
  error: unknown;
  isPlaceholderData?: boolean;
  refetch(): unknown;
};

type AnsweredProps<T> = { query: Asked<T>; height?: number | undefined; children: (data: T) => ReactNode };

/**
 * A query's data, or why it is missing. Data stays visible while newer is asked for; what answers another question is marked
 * as on its way out, and gives way to the failure of the new one.
 */
export function Answered<T>({ query, height = 240, children }: AnsweredProps<T>) {
  const { data, error, isPlaceholderData = false } = query;
  if (error && (data === undefined || isPlaceholderData)) {
    return <Fault error={error} retry={() => void query.refetch()} />;
  }
  if (data === undefined) return <Waiting height={height} />;
  return (
    <div className="replaced" aria-busy={isPlaceholderData}>
      {children(data)}
    </div>
  );
}
