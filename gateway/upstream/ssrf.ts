import { lookup } from "node:dns/promises";
import { within } from "#drizzle/database.ts";
import type { Clock } from "#shared/clock.ts";
import { GatewayError } from "../errors.ts";
import { addressKind, isAddress } from "./addresses.ts";

/** Names of cloud metadata services, whatever they resolve to. */
const METADATA_HOSTS = new Set(["metadata.google.internal", "metadata.goog", "instance-data"]);

const NAME = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?$/;

/** An answer of the resolver is believed for this long: as long as Bun's own `fetch` believes it. */
const RESOLVED_MS = 30_000;
const RESOLVED_MAX = 1000;
const RESOLVE_DEADLINE_MS = 5000;

/** All addresses of a host name. Rejects when there are none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

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
    (url && placeFault(hostOf(url), isAddress(hostOf(url)) ? [hostOf(url)] : resolved, allowPrivate))
  );
}

function formFault(url: URL | null, allowPrivate: boolean): string | null {
  if (!url || !/^https?:$/.test(url.protocol)) return "Expected an http or https address";
  if (url.username !== "" || url.password !== "") return "Expected no user name or password";
  if (url.search !== "" || url.hash !== "" || /[?#]$/.test(url.href))
    return "Expected no query and no fragment";
  const host = hostOf(url);
  if (!isAddress(host) && !NAME.test(host)) return "Expected a plain host name";
  if (url.protocol === "http:" && !allowPrivate) return "Plain http needs allow_private_network";
  return null;
}

function placeFault(host: string, addresses: readonly string[], allowPrivate: boolean): string | null {
  const kinds = addresses.map(addressKind);
  if (METADATA_HOSTS.has(host.replace(/\.$/, "")) || kinds.includes("forbidden")) {
    return "The address is not one that a provider can have";
  }
  if (kinds.includes("private") && !allowPrivate) {
    return "A loopback or private address needs allow_private_network";
  }
  return null;
}

/** Lower case, and an IPv6 literal without its brackets. */
const hostOf = (url: URL): string => url.hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");

export type AddressGuard = {
  /** The fault of an address that is about to be saved. A host that does not resolve now is no fault: calls check again. */
  saveFault(url: string, allowPrivate: boolean): Promise<string | null>;
  /**
   * Passes when a connection to `url` may be opened now; the answer of the resolver is remembered for half a minute.
   * @throws GatewayError upstream_unreachable, whose cause says why.
   */
  assertReachable(url: string, allowPrivate: boolean): Promise<void>;
};

export function addressGuard(clock: Clock, resolve: Resolve = systemResolve): AddressGuard {
  const remembered = new Map<string, { addresses: readonly string[]; untilMs: number }>();
  /** Addresses that passed, and until when that is believed. */
  const passed = new Map<string, number>();

  async function addressesOf(text: string): Promise<readonly string[]> {
    const url = URL.parse(text);
    if (!url || isAddress(hostOf(url))) return [];
    const host = hostOf(url);
    const known = remembered.get(host);
    if (known && known.untilMs > clock.monotonicMs()) return known.addresses;
    const addresses = await within(RESOLVE_DEADLINE_MS, resolve(host));
    if (remembered.size >= RESOLVED_MAX) remembered.clear();
    remembered.set(host, { addresses, untilMs: clock.monotonicMs() + RESOLVED_MS });
    return addresses;
  }

  return {
    async saveFault(url, allowPrivate) {
      const formal = privateAddressFault(url, [], allowPrivate);
      if (formal !== null) return formal;
      const addresses = await addressesOf(url).catch(() => []);
      return privateAddressFault(url, addresses, allowPrivate);
    },
    async assertReachable(url, allowPrivate) {
      const verdict = `${allowPrivate} ${url}`;
      if ((passed.get(verdict) ?? 0) > clock.monotonicMs()) return;
      const addresses = await addressesOf(url).catch((cause) => {
        throw new GatewayError("upstream_unreachable", undefined, cause);
      });
      const fault = privateAddressFault(url, addresses, allowPrivate);
      if (fault !== null) throw new GatewayError("upstream_unreachable", undefined, new Error(fault));
      if (passed.size >= RESOLVED_MAX) passed.clear();
      passed.set(verdict, clock.monotonicMs() + RESOLVED_MS);
    },
  };
}
