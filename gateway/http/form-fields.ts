import { parseLabel } from "#shared/labels.ts";
import { GatewayError } from "../errors.ts";
import type { MultipartEvent } from "./multipart.ts";

/** Longer text fields are ignored. */
const FIELD_BYTES_MAX = 1024 * 1024;
/** Longest accepted `model` after the file. */
const MODEL_MAX = 200;

export type FormFields = {
  /**
   * Takes the form's events in order.
   * @throws GatewayError model_not_allowed; invalid_request for a `model` that the provider could read differently.
   */
  take(events: readonly MultipartEvent[]): void;
  /** The complete text fields before the first file. */
  readonly fields: ReadonlyMap<string, string>;
  /** The first file has started, or the form has ended: further fields are ignored. */
  readonly headSeen: boolean;
  /** `model`, if it came after the file. */
  readonly trailingModel: string | null;
};

type Field = { name: string; kept: boolean; bytes: Uint8Array[]; size: number };

/**
 * The text fields of a form that is forwarded while it is read. A scoped key's `model` must come before the file,
 * because it decides whether anything is sent to the provider (spec, endpoint table); a second `model` is refused,
 * because the provider might use either.
 */
export function formFields(scoped: boolean): FormFields {
  const fields = new Map<string, string>();
  let headSeen = false;
  let modelSeen = false;
  let trailingModel: string | null = null;
  let current: Field | null = null;

  function finish(): void {
    if (current?.kept) {
      const text = Buffer.concat(current.bytes).toString("utf8");
      if (!headSeen) fields.set(current.name, text);
      else if (current.name === "model") trailingModel = parseLabel(text, MODEL_MAX);
    }
    current = null;
  }

  function begin({ name, isFile }: { name: string; isFile: boolean }): void {
    finish();
    if (name === "model") {
      requirePlainModel({ scoped, isFile, modelSeen, headSeen });
      modelSeen = true;
    }
    headSeen ||= isFile;
    current = isFile ? null : { name, kept: !headSeen || name === "model", bytes: [], size: 0 };
  }

  function keep(bytes: Uint8Array): void {
    if (!current?.kept) return;
    current.size += bytes.byteLength;
    if (current.size > FIELD_BYTES_MAX) Object.assign(current, { kept: false, bytes: [] });
    else current.bytes.push(bytes);
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
    get headSeen() {
      return headSeen;
    },
    get trailingModel() {
      return trailingModel;
    },
  };
}

/** The error for a scoped key's form without `model` before the file. */
export const modelMustComeFirst = (): GatewayError =>
  new GatewayError("model_not_allowed", "This key has a scope: put `model` before the file.");

type ModelPart = { scoped: boolean; isFile: boolean; modelSeen: boolean; headSeen: boolean };

function requirePlainModel({ scoped, isFile, modelSeen, headSeen }: ModelPart): void {
  if (isFile) throw new GatewayError("invalid_request", "`model` must be a plain text field.");
  if (scoped && headSeen) throw modelMustComeFirst();
  if (!modelSeen) return;
  const sentence = "`model` appears twice.";
  throw new GatewayError(scoped ? "model_not_allowed" : "invalid_request", sentence);
}
