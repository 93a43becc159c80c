import { oneText } from "./search.ts";

export type ListSearch = Readonly<Record<string, string | undefined>>;

/** Reads the filters that a list has; what else the address names is not its own. */
export const listSearch =
  (names: readonly string[]) =>
  (raw: Record<string, unknown>): ListSearch =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = oneText(raw[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    );
