/** Google's servers take both spellings of a member: `systemInstruction` and `system_instruction`. */
export const camelName = (name: string): string =>
  name.includes("_") ? name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name;

const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A member by its camel-case name, in either spelling; undefined if there is none, or nothing that has members. */
export function protoMember(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null) return undefined;
  for (const spelling of [name, snakeName(name)]) {
    if (Object.hasOwn(holder, spelling)) return Reflect.get(holder, spelling);
  }
  return undefined;
}

/** Google's canonical code of an error by HTTP status (google.rpc.Code). */
const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};

export const googleStatus = (httpStatus: number): string =>
  STATUSES[httpStatus] ?? (httpStatus >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
