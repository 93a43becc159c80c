import type { Parameter, Parameters } from "../data/parameters.ts";
import { plainName } from "../parts/foreign.tsx";

/** Tables' own sorting and searches. */
const OF_TABLES = /(^|\.)(sort|find)$/;

/** What an address asks for that its page does not have. Values that only the gateway can judge are left to it. */
export const addressFaults = (raw: Readonly<Record<string, unknown>>, known: Parameters): string[] => [
  ...Object.entries(raw).flatMap(([name, given]) => {
    if (OF_TABLES.test(name)) return [];
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    const faults = parameter ? valueFaults([given].flat().map(String), parameter) : [unknown(known)];
    return faults.map((fault) => `${plainName(name)}${fault}`);
  }),
  ...(raw["range"] !== undefined && (raw["from"] ?? raw["to"]) !== undefined
    ? ["range: expected without from and to."]
    : []),
];

const unknown = (known: Parameters): string => {
  const names = Object.keys(known);
  return names.length === 0
    ? ": this page has no filters."
    : `: there is no such filter. There are ${names.join(", ")}.`;
};

function valueFaults(given: readonly string[], { values, most = 1 }: Parameter): string[] {
  if (given.length > most) return [`: expected at most ${most}.`];
  return given
    .filter((value) => (values ? !values.includes(value) : value === ""))
    .map((value) =>
      value === "" ? ": expected a value." : `=${plainName(value)}: expected one of ${values?.join(", ")}.`,
    );
}
