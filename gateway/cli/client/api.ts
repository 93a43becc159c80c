import type { Static, TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import { pageOf } from "#shared/admin/fields.ts";
import { parsedJson } from "#shared/json.ts";
import { fits, open } from "#shared/schema.ts";
import type { Secret } from "../../directory.ts";
import { ERRORS } from "../../errors.ts";
import { failureCauseOf } from "../../upstream/failures.ts";
import { START_COMMAND } from "../own-program.ts";
import { gatewayUrl, readAdminKey } from "./settings.ts";

/** The gateway answered with an error or not at all; the message says what to do. */
export class ApiError extends Error {
  override readonly name = "ApiFault";
  /** Null: no answer. */
  readonly status: number | null;

  constructor(status: number | null, message: string) {
    super(message);
    this.status = status;
  }
}

export type Api = {
  url: string;
  /** The JSON answer, or null for an empty one. A body that is text is sent as it is. @throws ApiError */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** The answer as text. @throws ApiError */
  text(method: string, path: string, body?: unknown): Promise<string>;
  /** The bytes of a file, however long it takes. @throws ApiError */
  file(path: string): Promise<AsyncIterable<Uint8Array>>;
};

const ANSWER_MS_MAX = 60_000;
/** After this, a wait is explained to who looks at it. */
const QUIET_MS = 5_000;
const Failure = open({ error: open({ message: Type.String() }) });

export function apiAt(url: string, key: Secret): Api {
  const answered = async (path: string, init: RequestInit): Promise<Response> => {
    const say = () =>
      void (process.stderr.isTTY && process.stderr.write(`tallygate: waiting for ${url} …\n`));
    const waiting = setTimeout(say, QUIET_MS);
    const answer = await fetch(`${url}${path}`, {
      redirect: "error",
      headers: { authorization: `Bearer ${key.reveal()}`, "content-type": "application/json" },
      ...init,
    })
      .catch((error: unknown) => {
        throw new ApiError(null, noAnswerText(url, error));
      })
      .finally(() => clearTimeout(waiting));
    if (answer.headers.get("content-type")?.includes("html"))
      throw new ApiError(answer.status, strangerText(url));
    if (answer.ok) return answer;
    throw new ApiError(answer.status, faultText(answer.status, await answer.text(), path));
  };
  const text = async (method: string, path: string, body?: unknown): Promise<string> => {
    const sent = body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) };
    const answer = await answered(path, { method, signal: AbortSignal.timeout(ANSWER_MS_MAX), ...sent });
    return await answer.text();
  };
  const file = async (path: string) => (await answered(path, {})).body ?? new ReadableStream<Uint8Array>();
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const said = await text(method, path, body);
    const value = parsedJson(said);
    if (value === null && said.trim() !== "" && said.trim() !== "null")
      throw new ApiError(200, strangerText(url));
    return value;
  };
  return { url, text, file, call };
}

const NAME_IT = "Name the gateway's address with --url or TALLYGATE_URL.";
const WHERE = `Start it with \`${START_COMMAND}\`, or name another with --url or TALLYGATE_URL.`;
const strangerText = (url: string) => `What answers at ${url} is not a Tallygate gateway. ${NAME_IT}`;

/** Why a request got no answer, and what to do. */
export function noAnswerText(url: string, error: unknown): string {
  const { name, code = "" } = error instanceof Error ? (error as Error & { code?: string }) : { name: "" };
  if (name === "TimeoutError") return `${url} takes connections and does not answer. ${NAME_IT}`;
  if (code === "UnexpectedRedirect") return `${url} redirects to another address. ${NAME_IT}`;
  const cause = failureCauseOf(error);
  if (cause === "dns") return `The host name in ${url} is not known. ${NAME_IT}`;
  if (cause === "tls")
    return `${url} offers no TLS connection that can be trusted (${code}). If an authority of your own signed its certificate, set NODE_EXTRA_CA_CERTS to that authority's file.`;
  return `Nothing answers at ${url}. ${WHERE}`;
}

/** @throws Error without an admin key. */
export function adminApi(url: string | undefined): Api {
  const key = readAdminKey();
  if (key === null) {
    throw new Error(
      "No admin key found. Set ADMIN_KEY, or set DATA_DIR to the gateway's data directory, which contains `admin-key`.",
    );
  }
  return apiAt(gatewayUrl(url), key);
}

const UNKNOWN_KEY =
  "The gateway does not know this key (401). Check ADMIN_KEY or the file `admin-key` in DATA_DIR; " +
  "as a member, TALLYGATE_KEY or `tallygate login`.";

const NOTHING_THERE = ERRORS.not_found.public;

function faultText(status: number, said: string, path: string): string {
  if (status === 401) return UNKNOWN_KEY;
  // A proxy in front of the gateway answers in its own format.
  const answer = parsedJson(said);
  if (!fits(Failure, answer)) return `The gateway answered ${status}.`;
  const { message } = answer.error;
  const wanted = decodeURIComponent(path.replace(/^.*\/v1\/|\?.*$/g, ""));
  return `${message === NOTHING_THERE ? `The gateway has no ${wanted}.` : message} (${status})`;
}

/** A list, page by page; `path` may have a query. @throws ApiError */
async function* listPages<T extends TSchema>(api: Api, path: string, item: T): AsyncGenerator<Static<T>[]> {
  const [address = "", given] = path.split("?");
  for (let after: string | null = ""; after !== null; ) {
    const query = new URLSearchParams(given);
    query.set("limit", "500");
    if (after) query.set("after", after);
    const page: { data: Static<T>[]; next: string | null } = expectShape(
      pageOf(item),
      await api.call("GET", `${address}?${query}`),
      address,
    );
    yield page.data;
    after = page.next;
  }
}

/** Every item of a list. @throws ApiError */
export const listAll = async <T extends TSchema>(api: Api, path: string, item: T): Promise<Static<T>[]> =>
  (await Array.fromAsync(listPages(api, path, item))).flat();

/** Checks an answer's shape. @throws ApiError for any other shape. */
export function expectShape<T extends TSchema>(form: T, value: unknown, what: string): Static<T> {
  if (fits(form, value)) return value;
  throw new ApiError(200, `${what} was answered in an unknown format. Is the gateway another version?`);
}
