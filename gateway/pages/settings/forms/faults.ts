import type { Fault } from "#shared/schema.ts";
import { ApiError } from "../../data/api.ts";
import type { Field } from "./field.ts";

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

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

const namesIn = (path: string): string[] =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

/** What the field that a path is of is called: `Fallbacks 2: Weight`. A group's name says nothing more. */
export function labelOf(fields: readonly Field[], [name = "", ...rest]: readonly string[]): string | null {
  const field = fields.find((it) => it.name === name);
  if (!field) return null;
  return (field.entry ? labelIn(field, field.entry, rest) : labelOf(field.members, rest)) ?? field.label;
}

function labelIn({ label }: Field, entry: Field, [at, ...rest]: readonly string[]): string | null {
  if (at === undefined) return null;
  const place = `${label} ${/^\d+$/.test(at) ? Number(at) + 1 : at}`;
  const inner = labelOf(entry.members, rest);
  return inner === null ? place : `${place}: ${inner}`;
}

/** What the schemas say of a value, and what a form says instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Expected required property$/, "This is required."],
  [/^Expected integer$/, "Enter a whole number."],
  [/^Expected \w+ to be greater or equal to (\S+)$/, "Enter $1 or more."],
  [/^Expected \w+ to be less or equal to (\S+)$/, "Enter $1 or less."],
  [/^Expected array length to be less or equal to (\d+)$/, "Enter at most $1."],
  [/^Expected array elements to be unique$/, "Each may be listed once."],
  [/^Expected string length less or equal to (\d+)$/, "Enter at most $1 characters."],
  [/^Expected an RFC 3339 date-time or a date$/, "Enter a date, such as 2027-01-31."],
  [/^Expected a decimal number.*$/, "Enter an amount of 0 or more, such as 12.50."],
  [
    /^Expected a JSON object.*$/,
    "Each setting may be listed once, none inside one that has a value, and a number must be one.",
  ],
  [/^Expected (one of .*)$/, "Choose $1."],
  [/^Expected (text of .*)$/, "Enter $1."],
  [/^Expected only with budget_usd\.?$/, "Set a budget first."],
  [/^Expected (.*?)\.?$/, "Enter $1."],
];

function worded({ message }: Fault, labels: ReadonlyMap<string, string>): string {
  const [rule, instead] = WORDS.find(([form]) => form.test(message)) ?? [];
  const text = rule && instead ? message.replace(rule, instead) : message;
  return text.replaceAll(/\b[a-z]+(?:_[a-z0-9]+)+\b/g, (name) => {
    const label = labels.get(name);
    return label === undefined ? name.replaceAll("_", " ") : `“${label}”`;
  });
}

const labelsIn = (fields: readonly Field[]): [name: string, label: string][] =>
  fields.flatMap(({ name, label, members, entry }) => [
    [name, label],
    ...labelsIn(members),
    ...labelsIn(entry?.members ?? []),
  ]);

/** A fault in the words of the form, with what its field is called there. */
export type WordedFault = Fault & { label: string };

/** Faults of members that the form has fields for, in its words. */
export function wordedFaults(fields: readonly Field[], faults: readonly Fault[]): WordedFault[] {
  const labels = new Map(labelsIn(fields));
  return faults.flatMap((fault) => {
    const label = labelOf(fields, namesIn(fault.path));
    return label === null ? [] : [{ path: fault.path, label, message: worded(fault, labels) }];
  });
}
