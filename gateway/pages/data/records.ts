import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Page } from "#shared/admin/fields.ts";
import { getJson, queryOf } from "./api.ts";

type ListOptions = {
  /** Address of a list of the admin API. */
  path: string;
  filters: Readonly<Record<string, string | undefined>>;
  /** Whether newer items appear by themselves. */
  isLive?: boolean;
};

const PAGE_ITEMS = 100;
const LIVE_EVERY_MS = 2_000;

/** A list, page by page. A live one is asked again while only its first page is shown. */
export function useList<Item>({ path, filters, isLive = false }: ListOptions) {
  const query = useInfiniteQuery({
    queryKey: ["list", path, filters],
    queryFn: ({ pageParam, signal }) =>
      getJson<Page<Item>>(`${path}${queryOf({ ...filters, limit: PAGE_ITEMS, after: pageParam })}`, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state: { data } }) => (isLive && pagesIn(data) <= 1 ? LIVE_EVERY_MS : false),
  });
  const items = useMemo(() => query.data?.pages.flatMap(({ data }) => data), [query.data]);
  return { ...query, items };
}

const pagesIn = (data: InfiniteData<unknown> | undefined): number => data?.pages.length ?? 0;
