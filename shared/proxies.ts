import { BlockList, isIP } from "node:net";
import { text } from "./env-forms.ts";

/** Words for networks, and the networks that they name. */
const NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10"],
};

/** The networks of the proxies in front whose word on a client's address counts. */
export type TrustedProxies = Pick<BlockList, "check">;

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");

function networksIn(setting: string): string[] {
  const words = setting.split(",").map((word) => word.trim());
  return words.flatMap((word) => NETWORKS[word.toLowerCase()] ?? [word]);
}

function isNetwork(network: string): boolean {
  const [, address = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
  return isIP(address) !== 0 && Number(length ?? 0) <= (isIP(address) === 6 ? 128 : 32);
}

export const trustedProxiesSetting = () =>
  text("loopback, private, addresses or networks such as 10.0.0.0/8, separated by commas", (value) =>
    networksIn(value).every(isNetwork),
  );

export function trustedProxies(setting = ""): TrustedProxies {
  const trusted = new BlockList();
  for (const network of networksIn(setting).filter(isNetwork)) {
    const [address = "", length = isIP(network) === 6 ? "128" : "32"] = network.split("/");
    trusted.addSubnet(address, Number(length), familyOf(address));
  }
  return trusted;
}

/**
 * The address of whoever made a request that arrived from `peer`: the rightmost one of `Forwarded` (RFC 7239) or
 * `X-Forwarded-For` that is no trusted proxy's; if all are, the first. A proxy writes one of the two headers, so if they
 * differ, a client wrote one, and the address of the proxy counts. Without a trusted proxy, `peer` itself.
 */
export function clientAddress(peer: string, headers: Headers, trusted: TrustedProxies): string {
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address));
  let client = plainAddress(peer) ?? peer;
  if (!isTrusted(client)) return client;
  const [forwarded, old] = [forwardedIn(headers.get("forwarded")), listIn(headers.get("x-forwarded-for"))];
  const isOne = forwarded.length === 0 || old.length === 0 || forwarded.join() === old.join();
  for (const address of isOne ? (forwarded.length > 0 ? forwarded : old).reverse() : []) {
    // An unknown client is as good as the proxy that does not know it.
    if (address === null) return client;
    client = address;
    if (!isTrusted(address)) return address;
  }
  return client;
}

/** Bun's server, which knows connections. */
type Server = { requestIP(request: Request): { address: string } | null };

/** The address of whoever makes a request to `server`, maybe through proxies; null: it is not known. */
export function callerAddress(server: Server | null, request: Request, trusted: TrustedProxies) {
  const peer = server?.requestIP(request)?.address;
  return peer === undefined ? null : clientAddress(peer, request.headers, trusted);
}

const listIn = (header: string | null): (string | null)[] =>
  header === null ? [] : header.split(",").map((entry) => plainAddress(entry));

const forwardedIn = (header: string | null): (string | null)[] =>
  header === null
    ? []
    : header.split(",").map((hop) => plainAddress(/(?:^|;)\s*for=([^;]*)/i.exec(hop)?.[1] ?? ""));

/** An IP address without quotes, brackets, port and the form of IPv4 in IPv6; null: not an address. */
function plainAddress(written: string): string | null {
  const bare = written.trim().replace(/^"(.*)"$/, "$1");
  const [, inBrackets] = /^\[([^\]]*)\](?::\w+)?$/.exec(bare) ?? [];
  const address = (inBrackets ?? bare.replace(/^([\d.]+):\w+$/, "$1")).replace(/^::ffff:(?=[\d.]+$)/i, "");
  return isIP(address) === 0 ? null : address.toLowerCase();
}
