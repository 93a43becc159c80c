import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { getJson, queryOf } from "./api.ts";

type ListOptions = {
  /** Address of a list of the admin API. */
  path: string;
  filters?: Readonly<Record<string, string | undefined>>;
  /** How often newer items appear by themselves; false: never. */
  refreshMs?: number | false;
  pageItems?: number;
  /** All pages are read, one after the other: what is shown is searched. */
  isWhole?: boolean;
};
/** For lists that are watched as calls end. */
export const LIVE_MS = 2_000;

/** All pages of a list, whatever its filters: what a change makes out of date. */
export const listKey = (path: string) => ["list", path] as const;

/** A list, page by page. It is asked again while only its first page is shown. */
export function useList<Item>(options: ListOptions) {
  const { path, filters = {}, refreshMs = false, pageItems = 100, isWhole = false } = options;
  const query = useInfiniteQuery({
    queryKey: [...listKey(path), filters],
    queryFn: ({ pageParam, signal }) =>
      getJson<Page<Item>>(`${path}${queryOf({ ...filters, limit: pageItems, after: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state: { data } }) => (pagesIn(data) <= 1 ? refreshMs : false),
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  useEffect(() => {
    if (isWhole && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isWhole, hasNextPage, isFetching, isError, fetchNextPage]);
  const items = useMemo(() => query.data?.pages.flatMap(({ data }) => data), [query.data]);
  return { ...query, items };
}

const pagesIn = (data: InfiniteData<unknown> | undefined): number => data?.pages.length ?? 0;

/** Whether any call was recorded: without one, there is nothing to see yet. */
export const hasCalls = async (): Promise<boolean> =>
  (await getJson<Page<RequestView>>("/admin/v1/requests?limit=1")).data.length > 0;
