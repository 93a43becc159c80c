/**
 * The kind of an IP address. `private`: this machine or its networks, allowed only if an administrator permits it.
 * `forbidden`: no server can be there that anyone means, such as cloud metadata services; never allowed.
 */
export type AddressKind = "public" | "private" | "forbidden";

type Block = readonly [network: bigint, bits: number, kind: AddressKind];

/**
 * Where clouds answer their machines with credentials and configuration. Some are inside blocks that are forbidden or
 * private anyway; all are named, so that this is the one list.
 */
const METADATA: readonly Block[] = [
  "100.100.100.200/32", // Alibaba
  "168.63.129.16/32", // Azure's agent, at a public address
  "169.254.0.0/16", // most clouds, and the credentials of containers
  "192.0.0.192/32", // Oracle, classic
  "fd00:100::100:200/128", // Alibaba
  "fd00:42::42/128", // Scaleway
  "fd00:a9fe:a9fe::1/128", // Linode
  "fd00:c1::a9fe:a9fe/128", // Oracle
  "fd00:ec2::/32", // Amazon: metadata, credentials of pods, DNS
  "fd20:ce::254/128", // Google
].map((text) => {
  const [network = "", bits] = text.split("/");
  return block(network, Number(bits), "forbidden");
});

/** Names of the same services, whatever they resolve to. */
const METADATA_HOSTS = new Set([
  ...["instance-data", "instance-data.ec2.internal", "metadata"],
  ...["metadata.goog", "metadata.google.internal", "metadata.packet.net"],
  ...["metadata.platformequinix.com", "metadata.tencentyun.com"],
]);

/** In lower case or not, with a final dot or without. */
export const isMetadataHost = (host: string): boolean =>
  METADATA_HOSTS.has(host.toLowerCase().replace(/\.$/, ""));

/** The first matching block decides (IANA's special-purpose registries). */
const IPV4: readonly Block[] = [
  ...METADATA.filter(([network]) => network >> 32n === 0n),
  block("0.0.0.0", 8, "forbidden"),
  block("10.0.0.0", 8, "private"),
  block("100.64.0.0", 10, "private"),
  block("127.0.0.0", 8, "private"),
  block("172.16.0.0", 12, "private"),
  block("192.0.0.0", 24, "forbidden"),
  block("192.0.2.0", 24, "forbidden"),
  block("192.88.99.0", 24, "forbidden"),
  block("192.168.0.0", 16, "private"),
  block("198.18.0.0", 15, "private"),
  block("198.51.100.0", 24, "forbidden"),
  block("203.0.113.0", 24, "forbidden"),
  block("224.0.0.0", 3, "forbidden"),
];

const IPV6: readonly Block[] = [
  ...METADATA.filter(([network]) => network >> 32n > 0n),
  block("::1", 128, "private"),
  block("fc00::", 7, "private"),
  block("2001::", 23, "forbidden"),
  block("2001:db8::", 32, "forbidden"),
  block("3fff::", 20, "forbidden"),
  block("2000::", 3, "public"),
  block("::", 0, "forbidden"),
];

/** IPv6 blocks that carry an IPv4 address, `shift` bits from the end: mapped, translated (NAT64), and 6to4. */
const CARRIERS: readonly [network: bigint, bits: number, shift: bigint][] = [
  [parseV6("::ffff:0:0") ?? 0n, 96, 0n],
  [parseV6("64:ff9b::") ?? 0n, 96, 0n],
  [parseV6("2002::") ?? 0n, 16, 80n],
];

/** The kind of an address literal; anything else is forbidden. */
export function addressKind(literal: string): AddressKind {
  const four = parseV4(literal);
  if (four !== null) return kindIn(IPV4, 32, four) ?? "public";
  const six = parseV6(literal.replace(/%.*$/, ""));
  if (six === null) return "forbidden";
  const carrier = CARRIERS.find((block) => isIn(block, 128, six));
  if (carrier) return kindIn(IPV4, 32, (six >> carrier[2]) & 0xffff_ffffn) ?? "public";
  return kindIn(IPV6, 128, six) ?? "forbidden";
}

export const isIpAddress = (text: string): boolean => parseV4(text) !== null || parseV6(text) !== null;

const isIn = ([network, bits]: readonly [bigint, number, unknown], width: number, address: bigint): boolean =>
  address >> BigInt(width - bits) === network >> BigInt(width - bits);

const kindIn = (blocks: readonly Block[], width: number, address: bigint): AddressKind | undefined =>
  blocks.find((block) => isIn(block, width, address))?.[2];

function block(network: string, bits: number, kind: AddressKind): Block {
  return [parseV4(network) ?? parseV6(network) ?? 0n, bits, kind];
}

function parseV4(text: string): bigint | null {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return null;
  const parts = text.split(".").map(Number);
  return parts.some((part) => part > 255) ? null : join(parts, 8);
}

function parseV6(text: string): bigint | null {
  const [, head = text, tail] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  const four = tail === undefined ? null : parseV4(tail);
  if (tail !== undefined && four === null) return null;
  const groups =
    four === null ? text : `${head}${(four >> 16n).toString(16)}:${(four & 0xffffn).toString(16)}`;
  const halves = groups.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const [before = [], after] = halves;
  const missing = 8 - before.length - (after?.length ?? 0);
  if (halves.length > 2 || (after ? missing < 1 : missing !== 0)) return null;
  const all = [...before, ...Array<string>(missing).fill("0"), ...(after ?? [])];
  return all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? join(
        all.map((group) => Number.parseInt(group, 16)),
        16,
      )
    : null;
}

function join(parts: readonly number[], bits: number): bigint {
  return parts.reduce((sum, part) => (sum << BigInt(bits)) | BigInt(part), 0n);
}
