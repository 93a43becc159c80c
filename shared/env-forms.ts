import { type TSchema, Type } from "@sinclair/typebox";
import { isPostgresUrl } from "./postgres-url.ts";
import { checked } from "./schema.ts";

// The types of settings in the environment. `accepts` is what an error message tells the reader to write.

/** A whole number of `unit` from `minimum` to `maximum`. */
export const whole = (unit: string, [minimum, maximum]: readonly [number, number], fallback: number) =>
  Type.Integer({ minimum, maximum, default: fallback, accepts: `${unit} from ${minimum} to ${maximum}` });

export const port = (fallback: number) => whole("a port", [1, 65535], fallback);

export const flag = (fallback: boolean) => Type.Boolean({ default: fallback, accepts: "true or false" });

export const oneWord = <const T extends readonly string[]>(words: T, fallback: T[number]) => {
  const accepts = `one of ${words.join(", ")}`;
  return checked<T[number]>(
    { type: "string", enum: [...words], default: fallback, accepts },
    accepts,
    (value) => words.some((word) => word === value),
  );
};

/** Text that passes `test`. */
export const text = (accepts: string, test: (value: string) => boolean, fallback?: string) =>
  checked<string>(
    { type: "string", accepts, ...(fallback === undefined ? {} : { default: fallback }) },
    accepts,
    (value) => typeof value === "string" && test(value),
  );

/** Text that error messages never quote. */
export const secret = (accepts: string, test: (value: string) => boolean) =>
  checked<string>(
    { type: "string", accepts, secret: true },
    accepts,
    (value) => typeof value === "string" && test(value),
  );

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);

const HOST = /^[A-Za-z0-9.:_-]{1,255}$/;

export const listenHost = () =>
  text("an IP address or a host name", (value) => HOST.test(value), "127.0.0.1");

export const postgresUrl = () =>
  secret(
    "a URL such as postgres://user:password@host:5432/database; write @ : / ? # % of the password percent-encoded, e.g. @ as %40",
    isPostgresUrl,
  );

/** Connections of each pool of a process. */
export const poolMax = () => Type.Integer({ minimum: 1, maximum: 100, accepts: "connections from 1 to 100" });

export const clickhouseUrl = () =>
  secret(
    "a URL such as http://user:password@host:8123/database; write @ : / ? # % of the password percent-encoded, e.g. @ as %40",
    isClickhouseUrl,
  );

/** An http or https URL without a query and a fragment; null for anything else. */
function plainUrl(value: string): URL | null {
  const url = URL.parse(value);
  return url && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" ? url : null;
}

/** An http or https URL that may name a user and a database, and nothing else. */
function isClickhouseUrl(value: string): boolean {
  const url = plainUrl(value);
  // A second @ belongs to the user name or the password and is not percent-encoded.
  return url !== null && /^\/\w*$/.test(url.pathname) && value.split("@").length <= 2;
}

/** Where clients reach the gateway: a host of its own, because its pages, cookies and addresses begin at `/`. */
export const publicUrl = () =>
  text(
    "an http or https URL without a path and a query, as clients reach the gateway; give it a host name of its own",
    (value) => isPublicUrl(value) && URL.parse(value)?.pathname === "/",
  );

/** An http or https URL without a query, a fragment or a user. */
export const isPublicUrl = (value: string): boolean => plainUrl(value)?.username === "";
