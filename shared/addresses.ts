import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * The kind of an IP address. `private`: this machine or its networks, allowed only if an administrator permits it.
 * `forbidden`: no server can be there that anyone means, such as cloud metadata services; never allowed.
 */
export type AddressKind = "public" | "private" | "forbidden";

type Block = readonly [network: string, kind: AddressKind];

/**
 * Where clouds answer their machines with credentials and configuration. Some are inside blocks that are forbidden or
 * private anyway; all are named, so that this is the one list.
 */
const METADATA = [
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
].map((network): Block => [network, "forbidden"]);

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
  ...METADATA.filter(([network]) => !network.includes(":")),
  ["0.0.0.0/8", "forbidden"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"],
  ["127.0.0.0/8", "private"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "forbidden"],
  ["192.0.2.0/24", "forbidden"],
  ["192.88.99.0/24", "forbidden"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "private"],
  ["198.51.100.0/24", "forbidden"],
  ["203.0.113.0/24", "forbidden"],
  ["224.0.0.0/3", "forbidden"],
  ["0.0.0.0/0", "public"],
];

/** IPv6 networks that carry an IPv4 address behind their first `bits`: mapped, translated (NAT64), and 6to4. */
const CARRIERS = [
  ["::ffff:", 96],
  ["64:ff9b::", 96],
  ["2002:", 16],
] as const;

const carried = ([network, kind]: Block): Block[] => {
  const [address = "", length] = network.split("/");
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(":");
  return CARRIERS.map(([head, bits]) => [
    `${head}${groups}${bits === 16 ? "::" : ""}/${bits + Number(length)}`,
    kind,
  ]);
};

const IPV6: readonly Block[] = [
  ...IPV4.flatMap(carried),
  ...METADATA.filter(([network]) => network.includes(":")),
  ["::1/128", "private"],
  ["fc00::/7", "private"],
  ["2001::/23", "forbidden"],
  ["2001:db8::/32", "forbidden"],
  ["3fff::/20", "forbidden"],
  ["2000::/3", "public"],
];

const listOf = (blocks: readonly Block[]) =>
  blocks.map(([network, kind]) => {
    const list = new BlockList();
    const [address = "", length] = network.split("/");
    list.addSubnet(address, Number(length), isIPv6(address) ? "ipv6" : "ipv4");
    return { list, kind };
  });
const LISTS = { ipv4: listOf(IPV4), ipv6: listOf(IPV6) };

/** The kind of an address literal; anything else is forbidden. */
export function addressKind(literal: string): AddressKind {
  const address = literal.replace(/%.*$/, "");
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  if (!isIP(address) || (family === "ipv4" && address !== literal)) return "forbidden";
  return LISTS[family].find(({ list }) => list.check(address, family))?.kind ?? "forbidden";
}

export const isIpAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes("%");
