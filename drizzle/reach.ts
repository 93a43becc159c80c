import { pause } from "#shared/backoff.ts";
import { firstHostOf } from "#shared/postgres-url.ts";
import { connect, readAddress, within } from "./database.ts";

/** What to do if the server refuses an address, or the name and password in it. */
const ENCODING_HINT =
  "In DATABASE_URL, write @ : / ? # % and other special characters of the user's name and password percent-encoded, e.g. @ as %40.";

/** Why a server cannot be used now, by the system's and by Postgres's codes; the first that matches. */
const CAUSES: readonly { code: RegExp; cause: string; hint?: string }[] = [
  { code: /^ECONNREFUSED/, cause: "nothing listens there (connection refused)" },
  { code: /^(ENOTFOUND|EAI_)/, cause: "the host name is unknown", hint: ENCODING_HINT },
  { code: /^ENOENT/, cause: "the socket does not exist" },
  { code: /^(EHOST|ENET)/, cause: "there is no network route" },
  { code: /^(ETIMEDOUT|CONNECT_TIMEOUT|DEADLINE)/, cause: "no answer in time" },
  { code: /^(ECONN|EPIPE|CONNECTION)/, cause: "the connection breaks off" },
  { code: /^25006/, cause: "the server is read-only, as a standby or during a failover" },
  { code: /^57P03/, cause: "the server is starting" },
  { code: /^(57P|08)/, cause: "the server is going down" },
  { code: /^53300/, cause: "the server has no free connection" },
];

/** The oldest Postgres whose features the schema needs: unique keys in which nulls are equal. */
const MAJOR_MIN = 15;
const OLD = `the server is too old: Tallygate needs Postgres ${MAJOR_MIN} or later.`;

/** A pooler such as PgBouncer refuses settings of a session, or drops them, and then limits of time do not hold. */
const POOLER =
  "a pooler in front of it refuses or drops the settings of a session. Write the server's own address, or one with sessions (docs: Poolers and managed Postgres).";
const isPooler = (error: unknown): boolean =>
  error instanceof Error && /unsupported startup parameter/i.test(error.message);

/** Refusals that waiting does not resolve. */
const FINAL: Readonly<Record<string, string>> = {
  "28P01": `the server refuses the password. ${ENCODING_HINT}`,
  "28000": `the server refuses this user. ${ENCODING_HINT}`,
  "3D000": "that database does not exist. Create it: createdb with encoding UTF8.",
  "42501": "this user lacks permissions for it.",
};

/** Host, port and database of an address, without user and password. */
function placeOf(url: string): string {
  const { socketPath } = readAddress(url);
  const { hostname, port, pathname } = new URL(firstHostOf(url));
  const database = decodeURIComponent(pathname.slice(1)) || "postgres";
  return `${database} at ${socketPath ?? `${hostname}:${port || "5432"}`}`;
}

/** The code of a driver's failure, or of the one that drizzle wraps; empty if it has none. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

/** Why a query failed that may succeed later, in some words with the code; null for any other failure. */
export function awayCause(error: unknown): string | null {
  const code = codeOf(error);
  const known = CAUSES.find((it) => it.code.test(code));
  return known ? `${known.cause} (${code})` : null;
}

/** Why `url` is temporarily unusable, in a sentence without its password; null for any other failure. */
export function unreachable(url: string, error: unknown): string | null {
  const cause = awayCause(error);
  const { hint } = CAUSES.find((it) => it.code.test(codeOf(error))) ?? {};
  return cause && `The database ${placeOf(url)} cannot be reached: ${cause}.${hint ? ` ${hint}` : ""}`;
}

/** The sentence for a failure that waiting does not resolve. */
export function refusalOf(url: string, error: unknown): string {
  const reason = FINAL[codeOf(error)];
  if (reason) return `The database ${placeOf(url)} cannot be used: ${reason}`;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `The database ${placeOf(url)} cannot be used: ${cause instanceof Error ? cause.message : "unknown"}`;
}

type Wait = {
  /** Called with the reason when the database is first away, when the reason changes, and every few seconds. */
  say: (reason: string) => void;
  signal: AbortSignal;
};

const TRY_MS_MAX = 5_000;
const PAUSE_MS = 1_000;
const SAY_AGAIN_TRIES = 3;

/** Resolves when the server at `url` answers, or when `signal` aborts. @throws Error that says what to correct. */
export async function untilReachable(url: string, { say, signal }: Wait): Promise<void> {
  let said = "";
  for (let tries = 0; !signal.aborted; tries++) {
    const reason = await awayReason(url);
    if (reason === null) return;
    if (reason !== said || tries % SAY_AGAIN_TRIES === 0) say(reason);
    said = reason;
    await pause(PAUSE_MS, signal);
  }
}

/** Why the server at `url` is temporarily unusable; null if it answers. @throws Error that says what to correct. */
export async function awayReason(url: string): Promise<string | null> {
  const fault = await probe(url);
  if (fault === null) return null;
  const reason = unreachable(url, fault);
  if (reason === null) throw new Error(refusalOf(url, fault));
  return reason;
}

async function probe(url: string): Promise<unknown> {
  const client = connect(url, { name: "probe", max: 1, statementTimeoutMs: TRY_MS_MAX });
  try {
    const [found] = await within(
      TRY_MS_MAX,
      client<{ version: number; timeout: string }[]>`
        select current_setting('server_version_num')::int as version, current_setting('statement_timeout') as timeout`,
    );
    if ((found?.version ?? 0) < MAJOR_MIN * 10_000) return new Error(OLD);
    return found?.timeout === `${TRY_MS_MAX / 1000}s` ? null : new Error(POOLER);
  } catch (error) {
    return isPooler(error) ? new Error(POOLER) : error;
  } finally {
    await client.end({ timeout: 0 });
  }
}
