import { within } from "#drizzle/database.ts";
import { codeOf } from "#shared/error-code.ts";
import { GatewayError } from "../errors.ts";

/** An administrator's page or change that takes longer is given up, unless it says how long it may take. */
const DEADLINE_MS = 10_000;

/** SQLSTATE classes and codes, and codes of postgres.js and the system, that mean: not now, but perhaps later. */
const AWAY =
  /^(08|53|40|57P|57014|55P03|25006|CONNECT|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|DEADLINE)/;
/** SQLSTATE of a write at a server that takes none. */
const READ_ONLY = "25006";
const READ_ONLY_TEXT =
  "The database is read-only at the moment, as a standby or during a failover. Nothing was changed.";

/**
 * Runs a query and translates its failure.
 * @throws GatewayError store_unavailable (unavailable, overloaded or too slow), conflict (a name is taken), invalid_request (a
 * text that cannot be stored), internal (anything else; its cause has no values of the query).
 */
export async function withStoreErrors<T>(work: () => PromiseLike<T>, ms = DEADLINE_MS): Promise<T> {
  try {
    return await within(ms, work());
  } catch (error) {
    throw error instanceof GatewayError ? error : meaningOf(error);
  }
}

/** Whether a failed query may succeed later: the database is unavailable, overloaded, or was too slow. */
export const isAway = (error: unknown): boolean => AWAY.test(codeOf(driverError(error)));

// Drizzle's own error quotes the values of the query; the driver's below it does not.
const driverError = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

function meaningOf(error: unknown): GatewayError {
  const cause = driverError(error);
  const code = codeOf(cause);
  if (AWAY.test(code))
    return new GatewayError("store_unavailable", code === READ_ONLY ? READ_ONLY_TEXT : undefined, cause);
  if (code === "23505") return new GatewayError("conflict", undefined, cause);
  if (code.startsWith("22")) {
    return new GatewayError("invalid_request", "A text or a number in the request cannot be stored.", cause);
  }
  return new GatewayError("internal", undefined, cause);
}
