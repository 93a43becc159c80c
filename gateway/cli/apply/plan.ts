import { KindGuard, type TSchema, TypeGuard } from "@sinclair/typebox";
import { readDecimal, readInstant } from "#shared/admin/fields.ts";
import { isRecord } from "#shared/json.ts";
import type { Declared } from "./declaration.ts";
import { type Members, RESOURCE_KINDS, type ResourceKind } from "./kinds.ts";

export type Change = { member: string; from: unknown; to: unknown };

export type PlanStep = {
  declared: Declared;
  action: "create" | "change" | "keep";
  /** The differences; for a new resource, every declared member. */
  changes: Change[];
  /** Secrets that cannot be compared, so they are sent again. */
  resent: string[];
  /** Null: nothing to send. */
  call: { method: "PUT" | "POST" | "PATCH"; path: string; body: Members } | null;
};

/** The step that makes `present` (or null) match the declared resource. Undeclared members are left alone. */
export function planStep(declared: Declared, present: Members | null): PlanStep {
  const kind: ResourceKind = RESOURCE_KINDS[declared.kind];
  const root = `/admin/v1${kind.path}`;
  const { body, name } = declared;
  if (present === null) {
    const changes = Object.entries(body).map(([member, to]) => ({ member, from: undefined, to }));
    const call =
      kind.create === "put"
        ? { method: "PUT" as const, path: name === "" ? root : `${root}/${encodeURIComponent(name)}`, body }
        : {
            method: "POST" as const,
            path: root,
            body: kind.shape === "named" ? named(kind, name, body) : body,
          };
    return { declared, action: "create", changes, resent: [], call };
  }
  const changes = differing(kind, body, present);
  const resent = Object.keys(body).filter(
    (member) =>
      (kind.secrets.includes(member) && typeof body[member] === "string") || hasMasked(present[member]),
  );
  const sent = [...changes.map(({ member }) => member), ...resent];
  const address = kind.shape === "single" ? root : `${root}/${encodeURIComponent(kind.addressOf(present))}`;
  const part = Object.fromEntries(sent.map((member) => [member, body[member]]));
  const call =
    kind.change === "put"
      ? { method: "PUT" as const, path: address, body: { ...ownMembers(kind, present), ...part } }
      : { method: "PATCH" as const, path: address, body: part };
  return {
    declared,
    action: changes.length > 0 ? "change" : "keep",
    changes,
    resent,
    call: sent.length > 0 ? call : null,
  };
}

/** Whether only the end of a secret text is shown, which cannot be compared. */
const isMasked = (value: unknown): value is string => typeof value === "string" && value.startsWith("…");

const hasMasked = (value: unknown): boolean => isRecord(value) && Object.values(value).some(isMasked);

const identifierOf = ({ identifiedBy = "name" }: ResourceKind): string => identifiedBy;

const named = (kind: ResourceKind, name: string, body: Members): Members => ({
  [identifierOf(kind)]: name,
  ...body,
});

function ownMembers(kind: ResourceKind, present: Members): Members {
  const sendable = Object.keys(kind.form.properties).filter(
    (member) => member !== identifierOf(kind) && member in present,
  );
  return Object.fromEntries(sendable.map((member) => [member, present[member]]));
}

function differing(kind: ResourceKind, body: Members, present: Members): Change[] {
  const forms = kind.form.properties;
  return Object.entries(body)
    .filter(
      ([member]) =>
        !(kind.secrets.includes(member) && body[member] !== null) &&
        member !== identifierOf(kind) &&
        member !== "id",
    )
    .filter(([member, to]) => !sameValue(forms[member], to, presentValue(kind, member, present)))
    .map(([member, to]) => ({ member, from: presentValue(kind, member, present), to }));
}

/** A secret to be removed is compared only by its presence. */
function presentValue(kind: ResourceKind, member: string, present: Members): unknown {
  if (!kind.secrets.includes(member)) return present[member];
  return present["credential_source"] === "stored" || present["has_credential"] === true ? "(stored)" : null;
}

/** Whether a declared value equals the gateway's: money by amount, times by instant, null and defaults as absent. */
function sameValue(form: TSchema | undefined, said: unknown, had: unknown): boolean {
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
  return sameText(one, other);
}

const sameText = (one: unknown, other: unknown): boolean =>
  isMasked(other) ? typeof one === "string" && one.endsWith(other.slice(1)) : one === other;

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
