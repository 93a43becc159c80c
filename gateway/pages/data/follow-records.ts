import type { QueryClient } from "@tanstack/react-query";
import type { Me } from "#shared/admin/me.ts";
import type { RecordsVersion } from "#shared/report-query.ts";
import { getJson } from "./api.ts";
import { ME, mayAs } from "./me.ts";

/** `meta` of queries whose answers the records decide. */
export const OF_RECORDS = { ofRecords: true } as const;

const EVERY_MS = 3000;
/** Pauses are this many times as long as it last took to ask for everything again: reports are work for the gateway. */
const REST = 10;
const REST_MS_MAX = 15_000;
/** While the version cannot be read, each pause doubles, up to this. */
const FAILED_MS_MAX = 60_000;
/** A page that opens begins several queries. */
const GATHER_MS = 50;

const VERSION = {
  queryKey: ["version"],
  queryFn: ({ signal }: { signal: AbortSignal }) => getJson<RecordsVersion>("/v1/version", signal),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
  retry: false,
} as const;

/** The version is for those who may read reports. */
const mayFollow = (client: QueryClient): boolean => {
  const me = client.getQueryData<Me | null>(ME.queryKey);
  return me ? mayAs(me.role, "manager") : false;
};

/** Resolves once a version is known or unreadable. What is asked for then is never older than later versions. */
export const versionKnown = async (client: QueryClient): Promise<void> => {
  if (mayFollow(client)) await client.ensureQueryData(VERSION).catch(() => undefined);
};

/** Whether what is shown may be older than the records. @throws ApiError */
async function hasMoved(client: QueryClient): Promise<boolean> {
  const known = client.getQueryData<RecordsVersion>(VERSION.queryKey);
  // Without one, what is shown was asked for after the first version, unless that could not be read.
  const isUnsure = (client.getQueryState(VERSION.queryKey)?.errorUpdateCount ?? 0) > 0;
  const { version } = await client.fetchQuery({ ...VERSION, staleTime: 0 });
  return known ? version !== known.version : isUnsure;
}

const mark = {
  predicate: ({ meta }: { meta: Record<string, unknown> | undefined }) => meta?.["ofRecords"] === true,
};

/**
 * Keeps what is shown of the records up to date. While the page is visible and shows any, the version of the records is
 * asked for every few seconds, and whenever a page opens. Once it has moved, everything shown is asked for again, and what
 * other pages left counts as old.
 */
export function followRecords(client: QueryClient): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let failures = 0;
  const isWatched = () =>
    document.visibilityState === "visible" &&
    mayFollow(client) &&
    client.getQueryCache().findAll({ ...mark, type: "active" }).length > 0;
  const turnIn = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => void turn(), ms);
  };

  async function turn(): Promise<void> {
    // A page that opens or becomes visible starts the turns again.
    if (isAsking || !isWatched()) return;
    isAsking = true;
    // An answer under way is waited for: newer records would otherwise cut a slow one off for ever.
    const tookMs = client.isFetching(mark) > 0 ? 0 : await refresh(client);
    failures = tookMs === null ? failures + 1 : 0;
    isAsking = false;
    turnIn(
      tookMs === null
        ? Math.min(EVERY_MS * 2 ** failures, FAILED_MS_MAX)
        : Math.min(Math.max(EVERY_MS, tookMs * REST), REST_MS_MAX),
    );
  }

  document.addEventListener("visibilitychange", () => turnIn(0));
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type === "observerAdded" && mark.predicate(query) && failures === 0) turnIn(GATHER_MS);
  });
}

/** Asks for everything again if the records have moved. Returns how long that took; null: the version could not be read. */
async function refresh(client: QueryClient): Promise<number | null> {
  const hasMovedNow = await hasMoved(client).catch(() => null);
  if (!hasMovedNow) return hasMovedNow === null ? null : 0;
  const begunMs = performance.now();
  await client.invalidateQueries(mark);
  return performance.now() - begunMs;
}
