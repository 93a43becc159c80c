import { isUtf8 } from "node:buffer";
import { parseLabel } from "#shared/labels.ts";
import { GatewayError, refuse } from "../errors.ts";
import { CALL, type DecidingNames } from "./deciding-names.ts";
import type { MultipartEvent } from "./multipart.ts";
import type { PartHead } from "./multipart-headers.ts";
import { requireOneReading, TwoReadings } from "./one-reading.ts";

/** Limits of a form's texts, which are held until they have been read. */
const FIELD_BYTES_MAX = 1024 * 1024;
const TEXT_BYTES_MAX = 2 * FIELD_BYTES_MAX;
const FIELDS_MAX = 1000;
const BOOLEANS = new Set(["true", "false"]);
/** Longest accepted `model` after the file. */
const MODEL_MAX = 200;

export type Field = readonly [name: string, text: string];

export type FormFields = {
  /**
   * Takes the form's events in order.
   * @throws GatewayError model_not_allowed; too_large; invalid_request for fields that the provider could read
   * differently.
   */
  take(events: readonly MultipartEvent[]): void;
  /** The complete text fields before the first file, and those after it. */
  readonly fields: readonly Field[];
  readonly lateFields: readonly Field[];
  /** The first file has started, or the form has ended. */
  readonly headSeen: boolean;
  /** A text field has started and not ended. */
  readonly textOpen: boolean;
  /** `model`, if it came after the file. */
  readonly trailingModel: string | null;
  /** The call is decided by what was read: a scoped key's `model` that comes later is refused. */
  decided(): void;
};

type Text = { name: string; bytes: Uint8Array[]; size: number };

/**
 * The text fields of a form that is forwarded while it is read. A scoped key's `model` must come before the form is
 * `decided`, because it decides whether anything is sent to the provider (spec, endpoint table).
 */
export function formFields(scoped: boolean): FormFields {
  const fields: Field[] = [];
  const lateFields: Field[] = [];
  const names = new Set<string>();
  let headSeen = false;
  let isDecided = false;
  let trailingModel: string | null = null;
  let current: Text | null = null;
  let textBytes = 0;

  function finish(): void {
    if (!current) return;
    const text = utf8Of(Buffer.concat(current.bytes));
    if (current.name === "stream" && !BOOLEANS.has(text)) refuse("`stream` must be true or false.");
    (headSeen ? lateFields : fields).push([current.name, text]);
    if (headSeen && current.name === "model") trailingModel = parseLabel(text, MODEL_MAX);
    current = null;
  }

  function begin({ name, isFile, isPlain }: PartHead): void {
    finish();
    const known = names.has(name);
    if (scoped && name === "model" && isPlain && (isDecided || known)) throw lateModel(known);
    requireOneField(CALL, name, known);
    if (!isPlain && CALL.names.has(name)) refuse(`\`${name}\` must be a plain text field.`);
    names.add(name);
    headSeen ||= isFile;
    current = isFile ? null : { name, bytes: [], size: 0 };
    if (fields.length + lateFields.length >= FIELDS_MAX) throw tooManyFields();
  }

  function keep(bytes: Uint8Array): void {
    if (!current) return;
    current.size += bytes.byteLength;
    textBytes += bytes.byteLength;
    if (current.size > FIELD_BYTES_MAX || textBytes > TEXT_BYTES_MAX) throw textTooLong();
    current.bytes.push(bytes);
  }

  return {
    take(events) {
      for (const event of events) {
        if (event.kind === "part") begin(event.part);
        else if (event.kind === "content") keep(event.bytes);
        else if (event.kind === "end") {
          finish();
          headSeen = true;
        }
      }
    },
    fields,
    lateFields,
    get headSeen() {
      return headSeen;
    },
    get textOpen() {
      return current !== null;
    },
    get trailingModel() {
      return trailingModel;
    },
    decided() {
      isDecided = true;
    },
  };
}

function utf8Of(bytes: Buffer): string {
  if (!isUtf8(bytes)) refuse("A text field is not valid UTF-8.");
  return bytes.toString("utf8");
}

/** The error for a scoped key's form without `model` before the file. */
export const modelMustComeFirst = (): GatewayError =>
  new GatewayError("model_not_allowed", "This key has a scope: put `model` before the file.");

const lateModel = (again: boolean): GatewayError =>
  again ? new GatewayError("model_not_allowed", "`model` appears twice.") : modelMustComeFirst();

const tooManyFields = (): GatewayError => new GatewayError("too_large", "The form has too many fields.");

export const textTooLong = (): GatewayError =>
  new GatewayError("too_large", "A text field of the form is too long.");

/** As for members of JSON. Some servers also ignore blanks and read `name[]` as `name`. @throws TwoReadings */
export function requireOneField(vocabulary: DecidingNames, name: string, again: boolean): void {
  requireOneReading(vocabulary, name, again);
  const plain = name.replace(/\[.*$/s, "").trim();
  if (plain === name) return;
  requireOneReading(vocabulary, plain, false);
  if (!vocabulary.names.has(plain)) return;
  throw new TwoReadings(`A field's name differs from \`${plain}\` only in its spelling.`);
}

/** The fields as one JSON object; a field that is there several times is a member as often. */
export const fieldsAsJson = (
  fields: readonly Field[],
  more: Readonly<Record<string, unknown>> = {},
): Buffer =>
  Buffer.from(
    `{${[...fields.filter(([name]) => !Object.hasOwn(more, name)), ...Object.entries(more)]
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
      .join(",")}}`,
  );
