import { Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import type { Unit } from "#shared/report.ts";
import { localDay, localMoment, shortMoment } from "./dates.ts";
import { exactInUnit, exactUsd, type Figure, inUnit, plainUsd, UNKNOWN, usd } from "./format.ts";

/** Marks that turn the direction of text, and control characters: a name must not rearrange what is around it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const TRICKS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SHOWN_MAX = 200;

/** A name from elsewhere as inert text: no marks that turn it, at most 200 characters. */
export function plainName(text: string): string {
  const plain = text.replace(TRICKS, "\ufffd");
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}

/** A name that a client, a provider or GitHub chose, cut to one line. */
export function Foreign({ text, whole = false }: { text: string; whole?: boolean }) {
  const name = plainName(text);
  return (
    <bdi className={whole ? "foreign" : "cut"} title={whole ? undefined : name}>
      {name}
    </bdi>
  );
}

type Reason = { children: string; reason: string };

/** A figure with one sentence on why it is what it is, for the mouse and the keyboard. */
function Explained({ children, reason }: Reason) {
  return (
    <Tooltip label={reason} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the sentence must be reachable with the keyboard. */}
      <span tabIndex={0} className="explained">
        {children}
        <span className="hidden-text"> ({reason})</span>
      </span>
    </Tooltip>
  );
}

/** What is not known, with why. */
export const Unknown = ({ reason }: { reason: string }) => <Explained reason={reason}>{UNKNOWN}</Explained>;

const UNKNOWN_COST = "Its cost is not known.";
const FLOOR_REASON = "At least this: some of the calls have no known cost.";
const CEILING_REASON = "At most this: batches are counted at interactive prices.";

export type MoneyProps = {
  /** Exact decimal text or a report's number; null is unknown. */
  value: Figure | null | undefined;
  /** Why it is a lower bound; true for the usual reason. */
  floor?: boolean | string;
  /** The most it can be. */
  ceiling?: boolean;
  unknown?: string | undefined;
  /** Every digit is shown; with so many decimals, where amounts stand below each other. */
  whole?: boolean | number;
};

/** Money: short to read, exact on hover and when copied. */
export function Money(props: MoneyProps) {
  const { value, floor = false, ceiling = false, unknown = UNKNOWN_COST, whole = false } = props;
  if (value === null || value === undefined) return <Unknown reason={unknown} />;
  const exact = (
    <span data-exact={exactUsd(value)} title={exactUsd(value)}>
      {whole === false ? usd(value) : plainUsd(value, whole === true ? 2 : whole)}
    </span>
  );
  if (floor === false && !ceiling) return exact;
  const reason = typeof floor === "string" ? floor : floor ? FLOOR_REASON : CEILING_REASON;
  return (
    <span className="bounded">
      <Explained reason={reason}>{floor === false ? "≤" : "≥"}</Explained> {exact}
    </span>
  );
}

type MeasuredProps = Omit<MoneyProps, "whole"> & { unit: Unit; value: number | null | undefined };

export function Measured({ unit, value, unknown, ...bounds }: MeasuredProps) {
  if (unit === "USD") return <Money value={value} unknown={unknown} {...bounds} />;
  if (value === null || value === undefined)
    return <Unknown reason={unknown ?? "There is nothing to count."} />;
  const exact = exactInUnit(unit, value);
  return (
    <span data-exact={exact} title={exact}>
      {inUnit(unit, value)}
    </span>
  );
}

type MomentProps = { at: string | null; form?: "long" | "short" | "day"; unknown?: string };

const FORMS = { long: localMoment, short: shortMoment, day: localDay } as const;

/** A time in the reader's zone, with UTC on hover. */
export function Moment({ at, form = "short", unknown = "It has not happened." }: MomentProps) {
  if (at === null) return <Unknown reason={unknown} />;
  const utc = `${new Date(at).toISOString().replace("T", " ").replace("Z", "")} UTC`;
  return (
    <time dateTime={at} title={utc} data-exact={at} className="moment">
      {FORMS[form](at)}
    </time>
  );
}

/** The gateway's own text, with what is in backticks as code. */
export const withCode = (text: string): ReactNode =>
  text.split("`").map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part));
