import { QueryCache, QueryClient } from "@tanstack/react-query";
import { statusOf } from "./api.ts";
import { ME } from "./me.ts";

/** Only what may pass by itself is tried again: no answer, too many requests, and a database that is away. */
const mayPass = (error: unknown): boolean => [0, 429, 502, 503].includes(statusOf(error) ?? -1);

/** A session that has ended meanwhile: one signs in and comes back to the same place. */
async function backToSignIn(client: QueryClient): Promise<void> {
  const me = await client.fetchQuery({ ...ME, staleTime: 0 });
  if (me !== null) return;
  const next = location.pathname + location.search;
  location.assign(`/sign-in?next=${encodeURIComponent(next)}`);
}

export function newQueryClient(): QueryClient {
  const onError = (error: unknown) => {
    if (statusOf(error) === 401) void backToSignIn(client).catch(() => undefined);
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        retry: (failures, error) => failures < 2 && mayPass(error),
        refetchOnWindowFocus: true,
      },
    },
  });
  return client;
}
