import type { Fault } from "#shared/schema.ts";
import { ApiError } from "../../data/api.ts";

export const isWithin = (path: string, place: string): boolean =>
  path === place || path.startsWith(`${place}/`);

/** What the gateway says of members, such as `/limits/budget_usd: Expected … /name: Expected …`. */
export function faultsIn(error: unknown): Fault[] {
  if (!(error instanceof ApiError)) return [];
  const sentences = error.message.split(/(?<=\.) (?=\/[^\s:]+: )/);
  return sentences.flatMap((sentence) => {
    const [, path, message = ""] = /^(\/[^\s:]+): (.*)$/s.exec(sentence) ?? [];
    return path === undefined ? [] : [{ path, message }];
  });
}

/** The fault to show at a place: of itself, or of a part of it for which none of the `parts` is shown. */
export const faultAt = (faults: readonly Fault[], place: string, parts: readonly string[] = []) =>
  faults.find(({ path }) => isWithin(path, place) && !parts.some((part) => isWithin(path, part)))?.message;

export const partOf = (place: string, name: string): string =>
  `${place}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
