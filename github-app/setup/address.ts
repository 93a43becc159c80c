import { lookup } from "node:dns/promises";
import { addressKind, isIpAddress, isMetadataHost } from "#shared/addresses.ts";

/** This machine, as its own programs reach it. */
const LOCAL = /^(127\.|0\.|::1$)/;
/** Names that only a local network resolves. */
const LOCAL_NAMES = /\.(local|localdomain|internal|lan|home|corp|intranet|home\.arpa)$/i;
const LOOKUP_MS = 2_000;

/** Why GitHub may not reach a URL; `refused`: no App may be registered with it. */
type ReachFault = { text: string; refused?: true };

/** Null: no known reason. `isEnterprise`: a server of one's own network calls. */
export async function reachFault(url: string, isEnterprise: boolean): Promise<ReachFault | null> {
  const { hostname, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIpAddress(host) ? [host] : await addressesOf(host);
  if (/^(.+\.)?localhost$/i.test(host) || addresses.some((it) => LOCAL.test(it))) {
    return { text: "This address is the server itself: GitHub cannot reach it from outside." };
  }
  const kinds = addresses.map(addressKind);
  if (isMetadataHost(host) || kinds.includes("forbidden")) {
    return { text: "No server of yours can have this address.", refused: true };
  }
  if (isEnterprise) return null;
  const isPrivate =
    kinds.includes("private") || LOCAL_NAMES.test(host) || !(host.includes(".") || host.includes(":"));
  if (isPrivate)
    return { text: "This address belongs to a private network: GitHub cannot reach it from outside." };
  if (addresses.length === 0) return { text: "This name does not resolve here." };
  return protocol === "http:"
    ? { text: "This address is not https: anybody on the way can read deliveries." }
    : null;
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await Promise.race([
    lookup(host, { all: true }).catch(() => []),
    Bun.sleep(LOOKUP_MS).then(() => []),
  ]);
  return found.map(({ address }) => address);
}
