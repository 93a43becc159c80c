import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

const LOCAL = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["0.0.0.0", 8],
] as const)
  LOCAL.addSubnet(network, prefix);
LOCAL.addAddress("::1", "ipv6");
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const)
  PRIVATE.addSubnet(network, prefix);
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

/** Names that only a local network resolves. */
const LOCAL_NAMES = /\.(local|localdomain|internal|lan|home|corp|intranet|home\.arpa)$/i;
const LOOKUP_MS = 2_000;

/** Why GitHub may not reach a URL; null: no known reason. `isEnterprise`: a server of one's own network calls. */
export async function reachFault(url: string, isEnterprise: boolean): Promise<string | null> {
  const { hostname, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) ? [host] : await addressesOf(host);
  const isIn = (list: BlockList) => addresses.some((it) => list.check(it, isIP(it) === 6 ? "ipv6" : "ipv4"));
  if (/^(.+\.)?localhost$/i.test(host) || isIn(LOCAL)) {
    return "This address is the server itself: GitHub cannot reach it from outside.";
  }
  if (isEnterprise) return null;
  const isPrivate = isIn(PRIVATE) || LOCAL_NAMES.test(host) || !(host.includes(".") || host.includes(":"));
  if (isPrivate) return "This address belongs to a private network: GitHub cannot reach it from outside.";
  if (addresses.length === 0) return "This name does not resolve here.";
  return protocol === "http:" ? "This address is not https: anybody on the way can read deliveries." : null;
}

async function addressesOf(host: string): Promise<string[]> {
  const found = await Promise.race([
    lookup(host, { all: true }).catch(() => []),
    Bun.sleep(LOOKUP_MS).then(() => []),
  ]);
  return found.map(({ address }) => address);
}

const ANSWER_MS = 3_000;

/** Whether this server itself answers at an address, seen from here. `answerOf`: how it would answer a question. */
export async function reachesItself(url: string, answerOf: (question: string) => string): Promise<boolean> {
  const question = crypto.randomUUID();
  try {
    const answer = await fetch(`${url}/setup/reach?question=${question}`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: "error",
    });
    return (await answer.text()) === answerOf(question);
  } catch {
    return false;
  }
}
