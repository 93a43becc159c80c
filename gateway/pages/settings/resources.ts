import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import { getJson, queryOf, sendJson } from "../data/api.ts";

/** How often a list is read again, so that a change made elsewhere appears by itself. */
const REFRESH_MS = 10_000;
const PAGE_ROWS = 200;

/** The address of a page; the path may have filters. */
const pageOf = (path: string, after: string): string => {
  const page = queryOf({ limit: PAGE_ROWS, after });
  return path.includes("?") ? `${path}&${page.slice(1)}` : `${path}${page}`;
};

const keyOf = (path: string) => ["settings", path];

/** All rows of a list of the admin API that have been loaded, and a way to load more. */
export function useResources<View>(path: string) {
  const query = useInfiniteQuery({
    queryKey: keyOf(path),
    queryFn: ({ pageParam, signal }) => getJson<Page<View>>(pageOf(path, pageParam), signal),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    refetchInterval: REFRESH_MS,
  });
  const rows = query.data?.pages.flatMap(({ data }) => data);
  return {
    data: rows,
    error: query.error,
    refetch: query.refetch,
    hasMore: query.hasNextPage,
    loadMore: () => void query.fetchNextPage(),
  };
}

/** Changes a resource, and reads its list again. */
export function useChange(path: string) {
  const client = useQueryClient();
  return async <T>(place: string, request: Parameters<typeof sendJson>[1]): Promise<T> => {
    const answer = await sendJson<T>(`${path}${place}`, request);
    await client.invalidateQueries({ queryKey: keyOf(path) });
    return answer;
  };
}
