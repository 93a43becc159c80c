import { formIn } from "#shared/form-body.ts";
import { createBodyReader } from "#shared/read-body.ts";
import { faultPage } from "./pages.ts";

/** A token or a state, and little else; of all requests at once, and within this time. */
const bodies = createBodyReader({ bytesMax: 16 * 1024, totalBytesMax: 1024 * 1024, msMax: 10_000 });

const REFUSED = {
  tooLarge: { status: 413, text: "This form is too large." },
  full: { status: 503, text: "Too many forms arrive at once. Send it again." },
  slow: { status: 408, text: "This form took too long to arrive. Send it again." },
} as const;

/** The fields of a form of these pages, or the answer that refuses it. Whoever sends it may be anyone. */
export async function readForm(request: Request): Promise<URLSearchParams | Response> {
  const bytes = await bodies.read(request);
  if (typeof bytes !== "string") return formIn(bytes) ?? faultPage(REFUSED.tooLarge.text, 413);
  const { text, status } = REFUSED[bytes];
  return faultPage(text, status);
}
