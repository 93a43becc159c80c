import { Tooltip } from "@mantine/core";
import type { Unit } from "#shared/report.ts";
import { exactInUnit, exactUsd, type Figure, inUnit, plainUsd, UNKNOWN, usd } from "./format.ts";

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

/** A measure of a report in its unit. */
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
