import type { Upload } from "../call.ts";
import { type Field, formFields, modelMustComeFirst, textTooLong } from "../http/form-fields.ts";
import { multipartScanner } from "../http/multipart.ts";
import type { RequestBody } from "./request-body.ts";

/** Maximum size of everything before the first file. */
const HEAD_BYTES_MAX = 2 * 1024 * 1024;

export type FormReader = {
  /** The text fields before the first file. */
  readonly fields: readonly Field[];
  /**
   * The next bytes to forward; null after the last ones. A text field after the first file is held until it is whole
   * and `judge` has resolved.
   */
  next(judge: Parameters<Upload["onLateFields"]>[0]): Promise<Uint8Array | null>;
  /** `model`, if it came after the file. */
  trailingModel(): string | null;
};

/**
 * Reads a form up to its first file.
 * @throws GatewayError model_not_allowed if a scoped key's `model` is not before the file; too_large; invalid_request.
 */
export async function openForm(
  arrival: RequestBody,
  { boundary, scoped }: { boundary: string; scoped: boolean },
): Promise<FormReader> {
  const scanner = multipartScanner(boundary);
  const form = formFields(scoped);
  /** Read and not yet forwarded; null ends the form. */
  const waiting: (Uint8Array | null)[] = [];
  let judged = 0;

  async function read(): Promise<void> {
    const chunk = await arrival.next();
    if (chunk === null) scanner.end();
    else form.take(scanner.push(chunk));
    waiting.push(chunk);
  }

  for (let size = 0; !form.headSeen; size += waiting.at(-1)?.byteLength ?? 0) {
    if (size > HEAD_BYTES_MAX) throw textTooLong();
    await read();
  }
  if (scoped && !form.fields.some(([name]) => name === "model")) throw modelMustComeFirst();

  return {
    fields: form.fields,
    async next(judge) {
      if (waiting.length === 0) await read();
      while (form.textOpen) await read();
      const late = form.lateFields.slice(judged);
      judged += late.length;
      if (late.length > 0) await judge(late);
      return waiting.shift() ?? null;
    },
    trailingModel: () => form.trailingModel,
  };
}
