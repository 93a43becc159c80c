import { Switch } from "@mantine/core";
import type { ReactNode } from "react";
import type { SourceName } from "#shared/report.ts";
import { useAddress } from "../data/address.ts";
import { listSearch } from "../data/list-search.ts";
import { LIVE_MS, useList } from "../data/records.ts";
import { ValueChips } from "./chips.tsx";
import type { Columns } from "./columns.tsx";
import { DataTable } from "./data-table.tsx";
import { FieldFilter } from "./field-filter.tsx";
import { ListPage, NoMatch } from "./list-page.tsx";
import { PageHead } from "./page.tsx";
import { ListNote } from "./scope-note.tsx";
import type { Narrow } from "./value-link.tsx";

type Live<Item> = {
  title: string;
  /** What the table is called. */
  label: string;
  /** Address of a list of the admin API. */
  path: string;
  /** The filters and their words. */
  words: Readonly<Record<string, string>>;
  /** Where values to suggest are from. */
  source: SourceName;
  /** Values of filters that are known already. */
  values?: (items: readonly Item[]) => Readonly<Record<string, readonly string[]>>;
  columns: (narrow: Narrow, items: readonly Item[]) => Columns<Item>;
  /** The parameter of the address that sorts it. */
  sortName?: string;
  /** Shown where there is nothing at all. */
  none: ReactNode;
};

/** What `LiveList` shows, and how it reads its address. */
export function liveList<Item extends { id: string }>(it: Live<Item>) {
  const readFilters = listSearch(Object.keys(it.words));
  const readSearch = (raw: Record<string, unknown>) => ({
    ...readFilters(raw),
    live: raw["live"] === "off" ? "off" : undefined,
  });
  return { ...it, readSearch };
}

type Filters = ReturnType<ReturnType<typeof listSearch>>;

type LiveListProps<Item extends { id: string }> = {
  of: ReturnType<typeof liveList<Item>>;
  /** Opens the page of an id that is typed. */
  open?: (id: string) => void;
  sub?: ReactNode;
  /** Beside the filters, instead of the switch that stops new items. */
  controls?: (filters: Filters) => ReactNode;
  /** Above the list, and above its items. */
  above?: (isNarrowed: boolean, change: (filters: Filters) => void) => ReactNode;
  aboveItems?: (items: readonly Item[], isNarrowed: boolean) => ReactNode;
};

/** A list of records, newest first, that appear while they are made. */
export function LiveList<Item extends { id: string }>(props: LiveListProps<Item>) {
  const { of, open, sub, controls, above, aboveItems } = props;
  const { title, label, path, words, source, values, columns, sortName, none } = of;
  const [{ live, ...filters }, change] = useAddress(of.readSearch);
  const isLive = live !== "off";
  const list = useList<Item>({ path, filters, refreshMs: isLive && LIVE_MS });
  const narrow: Narrow = (name, value) => change({ [name]: value });
  const isNarrowed = Object.values(filters).some((it) => it !== undefined);
  return (
    <>
      <PageHead title={title} sub={sub}>
        <FieldFilter {...{ words, source, choose: narrow, open }} values={values?.(list.items ?? []) ?? {}} />
        {controls ? (
          controls(filters)
        ) : (
          <Switch
            size="sm"
            label="Live"
            checked={isLive}
            onChange={(event) => change({ live: event.currentTarget.checked ? undefined : "off" })}
          />
        )}
      </PageHead>
      <ListNote />
      <ValueChips words={words} values={filters} remove={(name) => change({ [name]: undefined })} />
      {above?.(isNarrowed, change)}
      <ListPage list={list} none={isNarrowed ? <NoMatch /> : none}>
        {(items) => (
          <>
            {aboveItems?.(items, isNarrowed)}
            <DataTable
              {...{ label, rows: items, rowKey: ["id"], rowHeight: 54, sortName }}
              columns={columns(narrow, items)}
            />
          </>
        )}
      </ListPage>
    </>
  );
}
