import { lookup } from "node:dns/promises";
import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { GatewayError } from "../errors.ts";
import { addressKind, isIpAddress } from "./addresses.ts";

/** Names of cloud metadata services, whatever they resolve to. */
const METADATA_HOSTS = new Set(["metadata.google.internal", "metadata.goog", "instance-data"]);

const NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?$/;

/** An answer of the resolver is believed for this long: as long as Bun's own `fetch` believes it. */
const RESOLVED_MS = 30_000;
const RESOLVED_MAX = 1000;
const RESOLVE_DEADLINE_MS = 5000;

/** All addresses of a host name. Rejects when there are none. */
type Resolve = (host: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * What is wrong with an address to send a credential and prompts to, in words for an administrator; null when nothing
 * is. `resolved` are the addresses of its host name (none for a literal). Only https to public addresses is right,
 * unless `allowPrivate`; metadata services and other places where no provider can live are wrong always.
 */
export function privateAddressFault(
  text: string,
  resolved: readonly string[],
  allowPrivate: boolean,
): string | null {
  const url = URL.parse(text);
  return (
    formFault(url, allowPrivate) ??
    (url && placeFault(hostOf(url), isIpAddress(hostOf(url)) ? [hostOf(url)] : resolved, allowPrivate))
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

function placeFault(host: string, addresses: readonly string[], allowPrivate: boolean): string | null {
  const kinds = addresses.map(addressKind);
  if (METADATA_HOSTS.has(host.replace(/\.$/, "")) || kinds.includes("forbidden")) {
    return "A provider cannot have this address";
  }
  if (kinds.includes("private") && !allowPrivate) {
    return "A loopback or private address needs allow_private_network";
  }
  return null;
}

/** Lower case, and an IPv6 literal without its brackets. */
const hostOf = (url: URL): string => url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");

/** One way to a host that was checked: whatever its name leads to a moment later, the connection goes to this address. */
export type ResolvedOrigin = {
  /** With the address in the place of the host's name; null where that stays as it is: a literal, or a proxy resolves it. */
  origin: string | null;
  /** What the request names as its `Host`. */
  host: string;
  /** The name that the certificate must be for. */
  serverName: string;
};

export type AddressGuard = {
  /** The fault of an address that is about to be saved. A host that does not resolve now is no fault: calls check again. */
  saveFault(url: string, allowPrivate: boolean): Promise<string | null>;
  /**
   * The ways to an origin (`https://host:port`) to which a connection may be opened now, the likeliest first: whoever
   * finds that one does not work puts it last. The resolver's answer is remembered for half a minute.
   * @throws GatewayError upstream_unreachable, whose cause says why.
   */
  resolveOrigin(origin: string, allowPrivate: boolean): ResolvedOrigin[] | Promise<ResolvedOrigin[]>;
};

type AddressGuardOptions = {
  resolve?: Resolve;
  /** The environment names a proxy, which is asked for hosts by name, and resolves them itself. */
  proxied?: boolean;
};

export function addressGuard(
  clock: Clock,
  { resolve = systemResolve, proxied = false }: AddressGuardOptions = {},
): AddressGuard {
  const remembered = new Map<string, { addresses: readonly string[]; untilMs: number }>();
  /** Origins that passed, and until when that is believed. */
  const passed = new Map<string, { ways: ResolvedOrigin[]; untilMs: number }>();

  async function addressesOf(text: string): Promise<readonly string[]> {
    const url = URL.parse(text);
    if (!url || isIpAddress(hostOf(url))) return [];
    const host = hostOf(url);
    const known = remembered.get(host);
    if (known && known.untilMs > clock.monotonicMs()) return known.addresses;
    const addresses = await within(RESOLVE_DEADLINE_MS, resolve(host));
    if (remembered.size >= RESOLVED_MAX) remembered.clear();
    remembered.set(host, { addresses, untilMs: clock.monotonicMs() + RESOLVED_MS });
    return addresses;
  }

  async function check(origin: string, allowPrivate: boolean): Promise<ResolvedOrigin[]> {
    const addresses = await addressesOf(origin).catch((cause) => {
      // Behind a proxy many networks do not resolve names of the world outside.
      if (proxied) return [];
      throw new GatewayError("upstream_unreachable", undefined, cause);
    });
    const fault = privateAddressFault(origin, addresses, allowPrivate);
    if (fault !== null) throw new GatewayError("upstream_unreachable", undefined, new Error(fault));
    const ways = waysBy(new URL(origin), proxied ? [] : addresses);
    if (passed.size >= RESOLVED_MAX) passed.clear();
    passed.set(verdictOn(origin, allowPrivate), { ways, untilMs: clock.monotonicMs() + RESOLVED_MS });
    return ways;
  }

  return {
    async saveFault(url, allowPrivate) {
      const formal = privateAddressFault(url, [], allowPrivate);
      if (formal !== null) return formal;
      const addresses = await addressesOf(url).catch(() => []);
      return privateAddressFault(url, addresses, allowPrivate);
    },
    resolveOrigin(origin, allowPrivate) {
      const known = passed.get(verdictOn(origin, allowPrivate));
      return known && known.untilMs > clock.monotonicMs() ? known.ways : check(origin, allowPrivate);
    },
  };
}

const verdictOn = (origin: string, allowPrivate: boolean): string => `${allowPrivate} ${origin}`;

function waysBy(url: URL, addresses: readonly string[]): ResolvedOrigin[] {
  const named = { host: url.host, serverName: hostOf(url).replace(/\.$/, "") };
  const port = url.port === "" ? "" : `:${url.port}`;
  const ways = addresses.map((address) => {
    const host = address.includes(":") ? `[${address}]` : address;
    return { ...named, origin: `${url.protocol}//${host}${port}` };
  });
  return ways.length > 0 ? ways : [{ ...named, origin: null }];
}
