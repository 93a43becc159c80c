import { useQueries } from "@tanstack/react-query";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import type { ToolCallView } from "#shared/admin/tool-calls.ts";
import { getJson, queryOf } from "../data/api.ts";
import { OF_RECORDS } from "../data/follow-records.ts";

const CALLS_MAX = 500;

/** A longer timeline would not help readers. */
const SESSIONS_MAX = 10;

/** The latest calls of sessions. */
export const useSessionCalls = (sessions: readonly string[]): RequestView[] =>
  useLatest<RequestView>("requests", sessions);

export const useSessionTools = (sessions: readonly string[]): ToolCallView[] =>
  useLatest<ToolCallView>("tool-calls", sessions);

const useLatest = <T>(path: "requests" | "tool-calls", sessions: readonly string[]): T[] =>
  useQueries({
    queries: sessions.slice(0, SESSIONS_MAX).map((session) => ({
      queryKey: ["session", path, session],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getJson<Page<T>>(`/admin/v1/${path}${queryOf({ session, limit: CALLS_MAX })}`, signal),
      meta: OF_RECORDS,
    })),
    combine: (answers) => answers.flatMap(({ data }) => data?.data ?? []),
  });
