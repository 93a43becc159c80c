import { lookup } from "node:dns/promises";
import { within } from "#drizzle/database.ts";
import { addressKind, isIpAddress, isMetadataHost } from "#shared/addresses.ts";
import type { Clock } from "#shared/clock.ts";
import { GatewayError } from "../errors.ts";
import { ProviderFailure } from "./failures.ts";

const NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?$/;

/** How long DNS results are cached: as long as in Bun's own `fetch`. */
const RESOLVED_MS = 30_000;
const RESOLVED_MAX = 1000;
const RESOLVE_DEADLINE_MS = 5000;

/** All addresses of a host name. Rejects if there are none. */
type Resolve = (host: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Why credentials and prompts must not be sent to a URL, for an administrator; null if they may. `resolved`: the
 * addresses of its host name (none for a literal). Only https to public addresses is allowed, unless `allowPrivate`;
 * metadata services and other addresses that no provider can have never are.
 */
export function privateAddressFault(
  text: string,
  resolved: readonly string[],
  allowPrivate: boolean,
): string | null {
  const url = URL.parse(text);
  return (
    formFault(url, allowPrivate) ??
    (url && addressFault(hostOf(url), isIpAddress(hostOf(url)) ? [hostOf(url)] : resolved, allowPrivate))
  );
}

function formFault(url: URL | null, allowPrivate: boolean): string | null {
  if (!url || !/^https?:$/.test(url.protocol)) return "Expected an http or https address";
  if (url.username !== "" || url.password !== "") return "Expected no user name or password";
  if (url.search !== "" || url.hash !== "" || /[?#]$/.test(url.href))
    return "Expected no query and no fragment";
  const host = hostOf(url);
  if (!isIpAddress(host) && !NAME.test(host)) return "Expected a plain host name";
  if (url.protocol === "http:" && !allowPrivate) return "Plain http needs allow_private_network";
  return null;
}

function addressFault(host: string, addresses: readonly string[], allowPrivate: boolean): string | null {
  const kinds = addresses.map(addressKind);
  if (isMetadataHost(host) || kinds.includes("forbidden")) {
    return "A provider cannot have this address";
  }
  if (kinds.includes("private") && !allowPrivate) {
    return "A loopback or private address needs allow_private_network";
  }
  return null;
}

/** In lower case, IPv6 literals without brackets. */
const hostOf = (url: URL): string => url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");

/** A checked address of a host: the connection goes there even if the name resolves differently a moment later. */
export type ResolvedOrigin = {
  /** The origin with the address instead of the host name; null if unchanged: a literal, or resolved by a proxy. */
  origin: string | null;
  /** The request's `Host` header. */
  host: string;
  /** The name that the certificate must match. */
  serverName: string;
};

export type AddressGuard = {
  /** Why a URL is rejected when saved. A host that does not resolve now is accepted, because calls check again. */
  saveFault(url: string, allowPrivate: boolean): Promise<string | null>;
  /**
   * The checked addresses of an origin (`https://host:port`), the most promising first: a caller moves one that fails to
   * the end. DNS results are cached for 30 s.
   * @throws GatewayError upstream_unreachable, with the reason as its cause.
   */
  resolveOrigin(origin: string, allowPrivate: boolean): ResolvedOrigin[] | Promise<ResolvedOrigin[]>;
};

type AddressGuardOptions = {
  resolve?: Resolve;
  /** The environment names a proxy, which resolves host names itself. */
  proxied?: boolean;
};

export function addressGuard(
  clock: Clock,
  { resolve = systemResolve, proxied = false }: AddressGuardOptions = {},
): AddressGuard {
  const dnsCache = new Map<string, { addresses: readonly string[]; untilMs: number }>();
  /** Origins that passed the check, with their expiry. */
  const allowed = new Map<string, { origins: ResolvedOrigin[]; untilMs: number }>();

  async function addressesOf(text: string): Promise<readonly string[]> {
    const url = URL.parse(text);
    if (!url || isIpAddress(hostOf(url))) return [];
    const host = hostOf(url);
    const known = dnsCache.get(host);
    if (known && known.untilMs > clock.monotonicMs()) return known.addresses;
    const addresses = await within(RESOLVE_DEADLINE_MS, resolve(host));
    if (dnsCache.size >= RESOLVED_MAX) dnsCache.clear();
    dnsCache.set(host, { addresses, untilMs: clock.monotonicMs() + RESOLVED_MS });
    return addresses;
  }

  async function check(origin: string, allowPrivate: boolean): Promise<ResolvedOrigin[]> {
    const addresses = await addressesOf(origin).catch((cause) => {
      // Networks behind a proxy often do not resolve external names.
      if (proxied) return [];
      throw new GatewayError("upstream_unreachable", undefined, new ProviderFailure("dns", cause));
    });
    const fault = privateAddressFault(origin, addresses, allowPrivate);
    if (fault !== null) throw refused(fault);
    const origins = originsFor(new URL(origin), proxied ? [] : addresses);
    if (allowed.size >= RESOLVED_MAX) allowed.clear();
    allowed.set(cacheKey(origin, allowPrivate), { origins, untilMs: clock.monotonicMs() + RESOLVED_MS });
    return origins;
  }

  return {
    async saveFault(url, allowPrivate) {
      const formal = privateAddressFault(url, [], allowPrivate);
      if (formal !== null) return formal;
      const addresses = await addressesOf(url).catch(() => []);
      return privateAddressFault(url, addresses, allowPrivate);
    },
    resolveOrigin(origin, allowPrivate) {
      const known = allowed.get(cacheKey(origin, allowPrivate));
      return known && known.untilMs > clock.monotonicMs() ? known.origins : check(origin, allowPrivate);
    },
  };
}

const refused = (fault: string): GatewayError =>
  new GatewayError(
    "upstream_unreachable",
    undefined,
    new ProviderFailure("address_refused", new Error(fault)),
  );

const cacheKey = (origin: string, allowPrivate: boolean): string => `${allowPrivate} ${origin}`;

function originsFor(url: URL, addresses: readonly string[]): ResolvedOrigin[] {
  const named = { host: url.host, serverName: hostOf(url).replace(/\.$/, "") };
  const port = url.port === "" ? "" : `:${url.port}`;
  const origins = addresses.map((address) => {
    const host = address.includes(":") ? `[${address}]` : address;
    return { ...named, origin: `${url.protocol}//${host}${port}` };
  });
  return origins.length > 0 ? origins : [{ ...named, origin: null }];
}
