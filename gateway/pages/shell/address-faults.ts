import { RANGE_NAMES, texts } from "../data/search.ts";
import { SOURCES, VIEWS } from "../data/spec-search.ts";
import { plainName } from "../parts/foreign.tsx";

/** Parameters of reports that have a few values only. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  range: RANGE_NAMES,
  compare: ["none", "previous_period"],
  source: SOURCES,
  view: VIEWS,
};
const REPORTS = /^\/(overview|reports\/[^/]+|explore)\/?$/;

type Raw = Readonly<Record<string, unknown>>;

/** What the address of a report asks for that there is not. Values that only the gateway can judge are left to it. */
export const reportFaults = (pathname: string, raw: Raw): string[] =>
  Object.entries(REPORTS.test(pathname) ? VALUES : {}).flatMap(([name, known]) =>
    texts(raw[name])
      .filter((value) => !known.includes(value))
      .map((value) => `${name}=${plainName(value)}: expected one of ${known.join(", ")}.`),
  );

/** Of a list's address, what is no filter of it. Tables' own sorting and searches are. */
export const listFaults = (raw: Raw, known: readonly string[]): string[] =>
  Object.keys(raw)
    .filter((name) => !known.includes(name) && !/(^|\.)(sort|find)$/.test(name))
    .map((name) => `${plainName(name)}: there is no such filter. There are ${known.join(", ")}.`);
