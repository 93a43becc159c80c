// Headers that an agent adds to its calls, as the variables of several agents write them.

/** The header that names a call's session. */
export const SESSION_HEADER = "x-session-id";
/** The header of a client key beside another credential. */
export const KEY_HEADER = "x-gateway-key";
/** With it, the gateway refuses what the subscription cannot pay for, instead of paying itself. */
export const SUBSCRIPTION_LANE = ["x-gateway-lane", "subscription"] as const;

/** Headers as `Name: value` lines; an existing line is replaced, because two values make an invalid id. */
export function withHeaderLine(present: string | undefined, name: string, value: string): string {
  const others = (present ?? "").split(/\r?\n|\\n/).filter((line) => line.trim() !== "" && !isOf(line, name));
  return [...others, `${name}: ${value}`].join("\n");
}

/** Headers as comma-separated `Name:value`; a comma within a value is kept. */
export function withHeaderItem(present: string | undefined, name: string, value: string): string {
  const others = (present ?? "").split(/,(?=\s*[^,:]+:)/).filter((it) => it.trim() !== "" && !isOf(it, name));
  return [...others.map((it) => it.trim()), `${name}:${value}`].join(",");
}

const isOf = (text: string, name: string): boolean => text.split(":")[0]?.trim().toLowerCase() === name;

/** The session among headers of either form. */
export const sessionAmong = (headers: string | undefined): string | null =>
  /(?:^|[\n,])\s*x-session-id\s*:\s*([^\s,]+)/i.exec(headers ?? "")?.[1] ?? null;
