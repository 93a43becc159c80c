import { TextInput } from "@mantine/core";
import { asItIs, useAddress } from "../data/address.ts";
import { oneText } from "../data/search.ts";
import { DataTable, type DataTableProps } from "./data-table.tsx";
import { count } from "./format.ts";

/** Fewer rows need no search. */
const SEARCHED_FROM = 10;

type FindTableProps<Row> = Pick<DataTableProps<Row>, "label" | "columns" | "rows" | "rowKey"> & {
  noun: string;
};

/** The rows in which a sortable column contains a text. Text and sorting are in the address. */
export function FindTable<Row extends object>({ label, noun, columns, rows, rowKey }: FindTableProps<Row>) {
  const [address, change] = useAddress(asItIs);
  const name = noun.replaceAll(" ", "-");
  const text = oneText(address[`${name}.find`]) ?? "";
  const isFound = (row: Row) =>
    Object.values(columns).some(({ sort }) =>
      `${sort?.(row) ?? ""}`.toLowerCase().includes(text.toLowerCase()),
    );
  const shown = text === "" ? rows : rows.filter(isFound);
  return (
    <>
      {(rows.length >= SEARCHED_FROM || text !== "") && (
        <TextInput
          {...{ size: "xs", maw: 320, mb: 12 }}
          type="search"
          data-search
          aria-label={`Find a ${noun}`}
          placeholder={`Find among ${count(rows.length)}`}
          value={text}
          onChange={(event) =>
            change({ [`${name}.find`]: event.currentTarget.value || undefined }, { replace: true })
          }
        />
      )}
      {shown.length === 0 ? (
        <p className="mute">None of these matches.</p>
      ) : (
        <DataTable label={label} columns={columns} rows={shown} rowKey={rowKey} sortName={`${name}.sort`} />
      )}
    </>
  );
}
