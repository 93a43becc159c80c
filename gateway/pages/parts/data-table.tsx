import { useHotkeys } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { asItIs, useAddress } from "../data/address.ts";
import { oneText } from "../data/search.ts";
import type { Column, Columns } from "./columns.tsx";
import { type Named, useFittingColumns } from "./fitting-columns.tsx";
import { plainName } from "./values.tsx";

export type DataTableProps<Row> = {
  label: string;
  columns: Columns<Row>;
  rows: readonly Row[];
  /** The members that distinguish a row, or its key. */
  rowKey: readonly (keyof Row)[] | ((row: Row) => string);
  /** Shown instead where there are no rows. */
  none?: ReactNode;
  /** The parameter of the address that names the sorting, such as `-cost`. Absent: it is not in the address. */
  sortName?: string | undefined;
  rowHeight?: number;
};

const VIRTUAL_FROM = 100;

/**
 * A table that sorts by its heads, moves with `j` and `k`, and draws only the rows in view. A row with a link of the class
 * `row-link` is that link: a click anywhere beside its controls follows it, and so does Enter.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, rowKey, none, sortName, rowHeight = 35 } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const columns = useFittingColumns(props.columns, scroll);
  const [sorting, toggle] = useSorting(sortName);
  const by = sorting && props.columns[sorting.id]?.sort;
  const isDescending = sorting?.isDescending ?? false;
  const sorted = useMemo(() => (by ? sortedRows(rows, by, isDescending) : rows), [rows, by, isDescending]);
  const keyOf = (row: Row) =>
    typeof rowKey === "function" ? rowKey(row) : JSON.stringify(rowKey.map((it) => row[it]));
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    indexAttribute: "data-row",
    // Rows are there at the first paint, before the room has been measured.
    initialRect: { width: 0, height: 800 },
    enabled: sorted.length > VIRTUAL_FROM,
  });
  const active = useRowKeys({
    count: sorted.length,
    open: (i) => rowAt(scroll.current, i)?.querySelector<HTMLElement>(".row-link, .value-link")?.click(),
    show: (i) =>
      sorted.length > VIRTUAL_FROM
        ? virtual.scrollToIndex(i)
        : rowAt(scroll.current, i)?.scrollIntoView({ block: "nearest" }),
  });
  const items = sorted.length > VIRTUAL_FROM ? virtual.getVirtualItems() : null;
  const shown = items ? items.map(({ index }) => index) : sorted.map((_, i) => i);
  const isTall = columns.length < Object.keys(props.columns).length;
  const rowProps = { onClick: followRow, ...(items && isTall && { ref: virtual.measureElement }) };
  const before = items?.[0]?.start ?? 0;
  const after = items ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  if (rows.length === 0 && none !== undefined) return none;
  if (sorting && !by && sortName) return <NoSuchSorting {...{ ...props, sortName, id: sorting.id }} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section className="table-scroll" ref={scroll} tabIndex={0} aria-label={label}>
      <table className="grid" aria-rowcount={sorted.length}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head
                key={column.id}
                column={column}
                sorting={sorting?.id === column.id ? sorting : undefined}
                toggle={() => toggle(column.id)}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} columns={columns.length} />
          {shown.map((i) => {
            const row = sorted[i];
            return row === undefined ? null : (
              // The row's link serves the keyboard.
              <tr key={keyOf(row)} {...rowProps} data-active={i === active} data-row={i}>
                {columns.map(({ id, isNumber, cell }) => (
                  <td key={id} className={isNumber ? "number" : undefined}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Spacer height={after} columns={columns.length} />
        </tbody>
        <Foot columns={columns} />
      </table>
    </section>
  );
}

type NoSuchSortingProps<Row> = { sortName: string; id: string; columns: Columns<Row> };

function NoSuchSorting<Row>({ sortName, id, columns }: NoSuchSortingProps<Row>) {
  const names = Object.keys(columns).filter((it) => columns[it]?.sort);
  return (
    <p className="note" role="alert">
      {sortName}={plainName(id)}: expected one of {names.join(", ")}, with - for the greatest first.
    </p>
  );
}

const rowAt = (place: HTMLElement | null, i: number) => place?.querySelector(`[data-row="${i}"]`);

/** A click in a row, in a new tab where a link's would be. What was selected or has its own control is left alone. */
function followRow(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget: row, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || !row.contains(target)) return;
  if (target.closest("a, button, input, label") || getSelection()?.type === "Range") return;
  const keys = { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true };
  row.querySelector(".row-link")?.dispatchEvent(new window.MouseEvent("click", keys));
}

type Sorting = { id: string; isDescending: boolean };

/** The sorting, kept in the address if it has a name there: `cost`, or `-cost` for the greatest first; a third click ends it. */
function useSorting(name: string | undefined): [Sorting | undefined, (id: string) => void] {
  const [local, setLocal] = useState<string>();
  const [address, change] = useAddress(asItIs);
  const text = name === undefined ? local : oneText(address[name]);
  const toggle = (id: string) => {
    const next = text === `-${id}` ? id : text === id ? undefined : `-${id}`;
    if (name === undefined) setLocal(next);
    else change({ [name]: next }, { replace: true });
  };
  return [
    text === undefined ? text : { id: text.replace(/^-/, ""), isDescending: text.startsWith("-") },
    toggle,
  ];
}

const TEXTS = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const compare = (a: string | number, b: string | number): number =>
  typeof a === "number" && typeof b === "number" ? a - b : TEXTS.compare(String(a), String(b));

/** Values are read at each sort, because some arrive after the rows. Rows without a value come last. */
function sortedRows<Row>(
  rows: readonly Row[],
  sort: NonNullable<Column<Row>["sort"]>,
  isDescending: boolean,
): Row[] {
  const valued = rows.map((row) => [sort(row), row] as const);
  const sorted = valued.toSorted(([a], [b]) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return isDescending ? compare(b, a) : compare(a, b);
  });
  return sorted.map(([, row]) => row);
}

const ARROWS = { ascending: " ↑", descending: " ↓" };

type HeadProps<Row> = { column: Column<Row>; sorting: Sorting | undefined; toggle: () => void };

function Head<Row>({ column, sorting, toggle }: HeadProps<Row>) {
  const direction = sorting && (sorting.isDescending ? "descending" : "ascending");
  return (
    <th
      scope="col"
      className={column.isNumber ? "number" : undefined}
      aria-sort={column.sort ? (direction ?? "none") : undefined}
    >
      {column.sort ? (
        <button type="button" onClick={toggle}>
          {column.head}
          <span aria-hidden="true">{direction && ARROWS[direction]}</span>
        </button>
      ) : (
        column.head
      )}
    </th>
  );
}

const Spacer = ({ height, columns }: { height: number; columns: number }) =>
  height > 0 ? (
    <tr className="spacer">
      <td colSpan={columns} style={{ height }} />
    </tr>
  ) : null;

function Foot<Row>({ columns }: { columns: readonly Named<Row>[] }) {
  if (columns.every(({ foot }) => foot === undefined)) return null;
  return (
    <tfoot>
      <tr>
        {columns.map(({ id, isNumber, foot }) => (
          <td key={id} className={isNumber ? "number" : undefined}>
            {foot}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

type RowKeys = { count: number; open: (row: number) => void; show: (row: number) => void };

/** `j` and `k` choose a row, Enter opens it. @returns the chosen row; -1: none. */
function useRowKeys({ count, open, show }: RowKeys): number {
  const [active, setActive] = useState(-1);
  const move = (by: number) => () => {
    const next = Math.min(Math.max(active + by, 0), count - 1);
    setActive(next);
    if (next >= 0) show(next);
  };
  const isElsewhere = () => document.activeElement?.closest("a, button, input, select, textarea") !== null;
  useHotkeys([
    ["j", move(1)],
    ["k", move(-1)],
    ["Enter", () => active >= 0 && !isElsewhere() && open(active), { preventDefault: false }],
  ]);
  return active;
}
