import type { Parameter, Parameters } from "../data/parameters.ts";
import { plainName } from "../parts/values.tsx";

/** What an address asks for that its page does not have. Values that only the gateway can judge are left to it. */
export const addressFaults = (raw: Readonly<Record<string, unknown>>, known: Parameters): string[] => [
  ...Object.entries(raw).flatMap(([name, given]) => {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined;
    const faults = parameter ? valueFaults([given].flat().map(String), parameter) : [unknown(known)];
    return faults.map((fault) => `${plainName(name)}${fault}`);
  }),
  ...(raw["range"] !== undefined && (raw["from"] ?? raw["to"]) !== undefined
    ? ["range: expected without from and to."]
    : []),
];

const unknown = (known: Parameters): string => {
  const names = Object.keys(known).filter((name) => !name.includes("."));
  return names.length === 0
    ? ": this page has no filters."
    : `: there is no such filter. Known ones: ${names.join(", ")}.`;
};

function valueFaults(given: readonly string[], { values, like, most = 1 }: Parameter): string[] {
  if (given.length > most) return [`: expected at most ${most}.`];
  const expected = like?.such ?? `one of ${values?.join(", ")}`;
  return given
    .filter((value) => value === "" || !(values?.includes(value) ?? like?.pattern.test(value) ?? true))
    .map((value) => (value === "" ? ": expected a value." : `=${plainName(value)}: expected ${expected}.`));
}
