import { KindGuard, type TSchema, TypeGuard } from "@sinclair/typebox";
import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import { isRecord } from "#shared/json.ts";

/**
 * Whether a declared value equals the gateway's: money by amount, times by instant, null like absent, and an object's
 * absent member like its default.
 */
export function sameValue(form: TSchema | undefined, said: unknown, had: unknown): boolean {
  const one = said ?? defaultOf(form);
  const other = had ?? defaultOf(form);
  if (one === null || other === null) return one === other;
  const plain = form && withoutNull(form);
  if (isMoney(plain)) return amountOf(one) === amountOf(other);
  if (plain?.["format"] === "date-time") return readInstant(String(one)) === readInstant(String(other));
  if (Array.isArray(one) && Array.isArray(other)) {
    const item = plain && TypeGuard.IsArray(plain) ? plain.items : undefined;
    return one.length === other.length && one.every((it, at) => sameValue(item, it, other[at]));
  }
  if (isRecord(one) && isRecord(other)) {
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) =>
      sameValue(memberOf(plain, name), one[name], other[name]),
    );
  }
  return one === other;
}

const defaultOf = (form: TSchema | undefined): unknown => form?.default ?? null;

function withoutNull(form: TSchema): TSchema {
  if (!TypeGuard.IsUnion(form)) return form;
  return form.anyOf.find((it) => !KindGuard.IsNull(it)) ?? form;
}

const isMoney = (form: TSchema | undefined): boolean =>
  Array.isArray(form?.["type"]) && form["type"].includes("number");

/** 0.20 and 0.2 are the same amount. */
const amountOf = (value: unknown): string =>
  (readDecimal(value) ?? String(value)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

function memberOf(form: TSchema | undefined, name: string): TSchema | undefined {
  if (form && TypeGuard.IsObject(form)) return form.properties[name];
  if (form && TypeGuard.IsRecord(form)) return Object.values(form.patternProperties)[0];
  return undefined;
}
