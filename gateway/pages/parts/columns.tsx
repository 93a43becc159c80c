import { Link, type LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { calendarDay } from "./dates.ts";
import { count, type Figure } from "./format.ts";
import { Foreign, Moment, Money, type MoneyProps } from "./values.tsx";

/** A column: how a row's value is sorted, and how it is shown. `isFolded`: on a phone it is below the first one. */
export type Column<Row> = {
  head: ReactNode;
  isNumber?: boolean;
  isFolded?: boolean;
  /** Absent: not sortable. Null sorts last. */
  sort?: ((row: Row) => string | number | null) | undefined;
  cell: (row: Row) => ReactNode;
  foot?: ReactNode;
};

/** Columns by their ids, which addresses name when they sort. */
export type Columns<Row> = Readonly<Record<string, Column<Row>>>;
// The kinds of columns: a table is a record of them by the ids that its address sorts by. What cannot be sorted has no `sort`.

type Of<Row, T> = (row: Row) => T;
type Sort<Row> = Of<Row, string | number | null>;

export const cell = <Row,>(head: ReactNode, show: Of<Row, ReactNode>, sort?: Sort<Row>): Column<Row> => ({
  head,
  cell: show,
  sort,
});

export const figure = <Row,>(head: ReactNode, show: Of<Row, ReactNode>, sort?: Sort<Row>): Column<Row> => ({
  head,
  cell: show,
  sort,
  isNumber: true,
});

const Mute = ({ children }: { children: ReactNode }) => <span className="mute">{children}</span>;

/** A text; an empty one says why it is empty. */
export const text = <Row,>(head: string, of: Of<Row, string | null>, none: ReactNode = "–"): Column<Row> =>
  cell(head, (row) => (of(row) ? <Foreign text={of(row) ?? ""} /> : <Mute>{none}</Mute>), of);

/** A text that opens what its row is of. */
export const opens = <Row,>(head: string, of: Of<Row, string>, to: Of<Row, LinkProps>): Column<Row> =>
  cell(
    head,
    (row) => (
      <Link {...to(row)} className="row-link">
        <Foreign text={of(row)} />
      </Link>
    ),
    of,
  );

type Shown<Row> = { show?: Of<Row, string | null>; none?: ReactNode };

/** A number, or an amount as the text of `show`. */
export const number = <Row,>(
  head: string,
  of: Of<Row, number | null>,
  { show = (row) => count(of(row) ?? 0), none = "–" }: Shown<Row> = {},
): Column<Row> => figure(head, (row) => (of(row) === null ? <Mute>{none}</Mute> : show(row)), of);

/** An amount in USD, with what is said of it. */
export const money = <Row,>(
  head: ReactNode,
  of: Of<Row, Figure | null | undefined>,
  facts?: Of<Row, Omit<MoneyProps, "value">>,
): Column<Row> =>
  figure(
    head,
    (row) => <Money value={of(row)} {...facts?.(row)} />,
    (row) => (of(row) == null ? null : Number(of(row))),
  );

/** A day or a month of UTC, sorted by time. */
export const day = <Row,>(head: string, of: Of<Row, string | null>, none = "–"): Column<Row> =>
  cell(
    head,
    (row) => (
      <span className={of(row) ? "nowrap" : "mute"}>{of(row) ? calendarDay(of(row) ?? "") : none}</span>
    ),
    of,
  );

/** A time; `none` is shown in the place of one that is missing. */
export const moment = <Row,>(head: string, of: Of<Row, string | null>, none = ""): Column<Row> =>
  cell(head, (row) => (of(row) === null && none ? <Mute>{none}</Mute> : <Moment at={of(row)} />), of);

/** On a phone the column's cells are below those of the first one, even where there is room. */
export const folded = <Row,>(column: Column<Row>): Column<Row> => ({ ...column, isFolded: true });

/** Whether something is in force, as a word, not by colour alone. */
export const onOff = <Row,>(of: Of<Row, boolean>): Column<Row> => {
  const word = (row: Row) => (of(row) ? "on" : "off");
  return cell("State", (row) => <span className={of(row) ? "tag good" : "tag"}>{word(row)}</span>, word);
};
