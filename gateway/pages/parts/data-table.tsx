import { useHotkeys } from "@mantine/hooks";
import {
  type ColumnDef,
  createSortedRowModel,
  functionalUpdate,
  type RowData,
  rowSortingFeature,
  type SortingState,
  sortFns,
  tableFeatures,
  type Updater,
  useTable,
} from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, type ReactNode, useRef, useState } from "react";
import { asItIs, useAddress } from "../data/address.ts";
import { oneText } from "../data/search.ts";
import type { Column, Columns } from "./columns.tsx";
import { plainName } from "./values.tsx";

const FEATURES = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns,
});
type Features = typeof FEATURES;

type Named<Row> = Column<Row> & { id: string };

type DataTableProps<Row extends RowData> = {
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
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { label, rows, rowKey, none, sortName, rowHeight = 35 } = props;
  const columns = Object.entries(props.columns).map(([id, column]) => ({ id, ...column }));
  const scroll = useRef<HTMLDivElement>(null);
  const sorting = useSorting(sortName);
  const [unknown] = sorting.state.sorting.filter(({ id }) => !columns.some((it) => it.id === id && it.sort));
  const table = useTable({
    features: FEATURES,
    columns: columns.map(definitionOf),
    data: rows,
    getRowId: (row) =>
      typeof rowKey === "function" ? rowKey(row) : JSON.stringify(rowKey.map((it) => row[it])),
    ...sorting,
  });
  const sorted = table.getRowModel().rows;
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
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
  const before = items?.[0]?.start ?? 0;
  const after = items ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  if (rows.length === 0 && none !== undefined) return none;
  if (unknown) {
    const names = columns.filter(({ sort }) => sort).map(({ id }) => id);
    return (
      <p className="note" role="alert">
        {sortName}={plainName(unknown.id)}: expected one of {names.join(", ")}, with - for the greatest first.
      </p>
    );
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <section className="table-scroll" ref={scroll} tabIndex={0} aria-label={label}>
      <table className="grid" aria-rowcount={sorted.length}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sorting={table.getColumn(column.id)} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} columns={columns.length} />
          {shown.map((i) => {
            const row = sorted[i];
            return row === undefined ? null : (
              // The row's link serves the keyboard.
              <tr key={row.id} data-active={i === active} data-row={i} onClick={followRow}>
                {columns.map(({ id, isNumber, cell }) => (
                  <td key={id} className={isNumber ? "number" : undefined}>
                    {cell(row.original)}
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

const rowAt = (place: HTMLElement | null, i: number) => place?.querySelector(`[data-row="${i}"]`);

/** A click in a row, in a new tab where a link's would be. What was selected or has its own control is left alone. */
function followRow(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget: row, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || !row.contains(target)) return;
  if (target.closest("a, button, input, label") || getSelection()?.type === "Range") return;
  const keys = { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true };
  row.querySelector(".row-link")?.dispatchEvent(new window.MouseEvent("click", keys));
}

/** The sorting, kept in the address if it has a name there: `cost`, or `-cost` for the greatest first. */
function useSorting(name: string | undefined) {
  const [local, setLocal] = useState<string>();
  const [address, change] = useAddress(asItIs);
  const text = name === undefined ? local : oneText(address[name]);
  const sorting = text === undefined ? [] : [{ id: text.replace(/^-/, ""), desc: text.startsWith("-") }];
  return {
    state: { sorting },
    onSortingChange: (update: Updater<SortingState>) => {
      const [next] = functionalUpdate(update, sorting);
      const sorted = next && `${next.desc ? "-" : ""}${next.id}`;
      if (name === undefined) setLocal(sorted);
      else change({ [name]: sorted }, { replace: true });
    },
  };
}

const definitionOf = <Row extends RowData>({ id, sort }: Named<Row>): ColumnDef<Features, Row> => ({
  id,
  accessorFn: (row: Row) => sort?.(row) ?? undefined,
  enableSorting: sort !== undefined,
  sortUndefined: "last",
  sortDescFirst: true,
});

type Sorting = { getIsSorted(): "asc" | "desc" | false; toggleSorting(): void };

const ARIA = { asc: "ascending", desc: "descending" } as const;

function Head<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const direction = sorting?.getIsSorted() ?? false;
  const sort = direction === false ? "none" : ARIA[direction];
  return (
    <th
      scope="col"
      className={column.isNumber ? "number" : undefined}
      aria-sort={column.sort ? sort : undefined}
    >
      {column.sort ? (
        <button type="button" onClick={() => sorting?.toggleSorting()}>
          {column.head}
          <span aria-hidden="true">{direction === "asc" ? " ↑" : direction === "desc" ? " ↓" : ""}</span>
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
