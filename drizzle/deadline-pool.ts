import type postgres from "postgres";
import { codeOf } from "#shared/error-code.ts";
import { connect, type PoolOptions, within } from "./database.ts";

/** Rejects after the deadline if Postgres does not answer; whether it did what was asked is then unknown. */
export type BoundedQuery = <T>(work: (sql: postgres.Sql) => PromiseLike<T>) => Promise<T>;

/** Connections opened when first needed. After a missed deadline all are replaced: postgres.js has no time limit. */
export function deadlinePool(url: string, { deadlineMs, ...options }: PoolOptions & { deadlineMs: number }) {
  let client: postgres.Sql | null = null;
  const query: BoundedQuery = async (work) => {
    client ??= connect(url, options);
    const used = client;
    const answer = Promise.resolve(work(used));
    try {
      return await within(deadlineMs, answer);
    } catch (error) {
      answer.catch(() => undefined);
      if (client === used && codeOf(error) === "DEADLINE") {
        client = null;
        used.end({ timeout: 0 }).catch(() => undefined);
      }
      throw error;
    }
  };
  return {
    query,
    /** Waits up to this many seconds for running queries. */
    async close(seconds: number): Promise<void> {
      await client?.end({ timeout: seconds });
      client = null;
    },
  };
}
