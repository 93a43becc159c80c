import { GatewayError } from "../errors.ts";
import type { BodyHold } from "../http/body-budget.ts";
import { FILE_FORM } from "../http/deciding-names.ts";
import { requireOneField } from "../http/form-fields.ts";
import { type MultipartEvent, multipartScanner } from "../http/multipart.ts";
import type { PartHead } from "../http/multipart-headers.ts";
import type { RequestBody } from "../upstream/request-body.ts";
import type { RequestLines } from "./request-lines.ts";

const PURPOSE = "batch";
const PURPOSE_BYTES_MAX = 100;
export const PURPOSE_FAULT = "`purpose` must be `batch`, `user_data`, `vision` or `assistants`.";

const invalid = (sentence: string) => new GatewayError("invalid_request", sentence);

/** Checks that run on the file's lines before they are forwarded. */
type Checks = { lines: RequestLines; evaluate(): Promise<void> };

export type FileForm = {
  /** The form to forward: unchanged except for the models on the file's lines. */
  bytes(): AsyncGenerator<Uint8Array>;
  readonly filename: string | null;
};

/** Streams a form that uploads a file of requests; `purpose` must be `batch`. @throws GatewayError while being read. */
export function fileForm(arrival: RequestBody, boundary: string, { lines, evaluate }: Checks): FileForm {
  const scanner = multipartScanner(boundary);
  const names = new Set<string>();
  let part: PartHead | null = null;
  let filename: string | null = null;
  let purpose: Uint8Array[] = [];

  function begin(next: PartHead): void {
    part = next;
    requireOneField(FILE_FORM, next.name, names.has(next.name));
    names.add(next.name);
    if (next.isFile !== (next.name === "file")) throw invalid("The only file of the form must be `file`.");
    if (next.isFile) filename = next.filename;
  }

  /** Closes the current part; returns the bytes that were held back for it. */
  function finish(): Uint8Array[] {
    const ended = part;
    part = null;
    if (ended?.isFile) return lines.end();
    if (ended?.name === "purpose") {
      if (Buffer.concat(purpose).toString() !== PURPOSE) throw invalid(PURPOSE_FAULT);
      purpose = [];
    }
    return [];
  }

  function content(bytes: Uint8Array): Uint8Array[] {
    if (part?.isFile) return lines.push(bytes);
    if (part?.name === "purpose") {
      if (purpose.length > PURPOSE_BYTES_MAX) throw invalid(PURPOSE_FAULT);
      purpose.push(bytes);
    }
    return [bytes];
  }

  function forwarded(event: MultipartEvent): Uint8Array[] {
    switch (event.kind) {
      case "frame":
        return [...finish(), event.bytes];
      case "content":
        return content(event.bytes);
      case "part":
        begin(event.part);
        return [];
      case "end":
        if (!names.has("file")) throw invalid("The form must contain one `file`.");
        if (!names.has("purpose")) throw invalid(PURPOSE_FAULT);
        return [];
    }
  }

  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (let chunk = await arrival.next(); chunk !== null; chunk = await arrival.next()) {
      for (const event of scanner.push(chunk)) {
        const bytes = forwarded(event);
        await evaluate();
        yield* bytes;
      }
    }
    scanner.end();
  }

  return {
    bytes,
    get filename() {
      return filename;
    },
  };
}

/** `bytesMax`: as much of the form is held until its `purpose` has come. */
type Held = { hold: BodyHold; bytesMax: number };

/** The form's `purpose`, null if it is not in the first `bytesMax`; whether it is nowhere; the whole form to read again. */
export async function purposeOf(
  arrival: RequestBody,
  boundary: string,
  { hold, bytesMax }: Held,
): Promise<{ purpose: string | null; isMissing: boolean; form: RequestBody }> {
  const field = textField(boundary, "purpose");
  const held: (Uint8Array | null)[] = [];
  for (let size = 0; field.text() === null && size <= bytesMax; size += held.at(-1)?.byteLength ?? 0) {
    const chunk = await arrival.next();
    held.push(chunk);
    if (chunk === null) break;
    hold.take(chunk.byteLength);
    field.push(chunk);
  }
  const purpose = field.text();
  const isMissing = purpose === null && held.at(-1) === null;
  const next = async () => (held.length > 0 ? (held.shift() ?? null) : await arrival.next());
  return { purpose, isMissing, form: { next, cancel: () => arrival.cancel() } };
}

/** Reads one text field of a form; null until it is whole. */
function textField(boundary: string, name: string) {
  const scanner = multipartScanner(boundary);
  let reading: Buffer | null = null;
  let whole: string | null = null;
  return {
    push(chunk: Uint8Array): void {
      for (const event of scanner.push(chunk)) {
        if (event.kind === "content") reading &&= Buffer.concat([reading, event.bytes]);
        else if (event.kind === "part") reading = event.part.name === name ? Buffer.alloc(0) : null;
        else whole ??= reading?.toString() ?? null;
      }
    },
    text: () => whole,
  };
}
