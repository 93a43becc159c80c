import type { BodyHold } from "../http/body-budget.ts";
import { multipartScanner } from "../http/multipart.ts";
import type { RequestBody } from "../upstream/request-body.ts";

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
