import type { ReactNode } from "react";
import type { Column } from "../parts/data-table.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Moment } from "../parts/moment.tsx";
import { Money } from "../parts/money.tsx";

/** A column of a text; an empty one says why it is empty. */
export const textColumn = <View,>(
  id: string,
  head: string,
  { of, none = "–" }: { of: (view: View) => string | null; none?: ReactNode },
): Column<View> => ({
  id,
  head,
  sort: of,
  cell: (view) => {
    const text = of(view);
    return text === null || text === "" ? <span className="mute">{none}</span> : <Foreign text={text} />;
  },
});

/** A column of numbers or amounts, as text that is ready to show; `by` sorts it. */
export const numberColumn = <View,>(
  id: string,
  head: string,
  {
    of,
    by,
    none = "–",
  }: { of: (view: View) => string | null; by: (view: View) => number | null; none?: ReactNode },
): Column<View> => ({
  id,
  head,
  isNumber: true,
  sort: by,
  cell: (view) => of(view) ?? <span className="mute">{none}</span>,
});

/** A column of amounts in USD. */
export const moneyColumn = <View,>(
  id: string,
  head: string,
  of: (view: View) => string | null,
): Column<View> => ({
  id,
  head,
  isNumber: true,
  sort: (view) => Number(of(view) ?? 0),
  cell: (view) => <Money value={of(view)} />,
});

/** A column of times. */
export const momentColumn = <View,>(
  id: string,
  head: string,
  { of, none }: { of: (view: View) => string | null; none: string },
): Column<View> => ({ id, head, sort: of, cell: (view) => <Moment at={of(view)} unknown={none} /> });

/** A column that says whether something is in force, in a word and not by colour alone. */
export const switchColumn = <View,>(of: (view: View) => boolean): Column<View> => ({
  id: "enabled",
  head: "State",
  sort: (view) => (of(view) ? "on" : "off"),
  cell: (view) => <State on={of(view)} />,
});

const State = ({ on }: { on: boolean }) => (
  <span className={on ? "tag good" : "tag"}>{on ? "on" : "off"}</span>
);
