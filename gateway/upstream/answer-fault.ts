import type { HeaderView } from "../call.ts";
import type { FailureCause } from "../errors.ts";

/** Most bytes of an answer's headers, names and values. */
const HEADER_BYTES_MAX = 64 * 1024;

/** Why an answer cannot be passed on, if it cannot. Redirects would carry prompt and credential elsewhere. */
export function answerFault({ status }: Response, headers: HeaderView): FailureCause | null {
  if (status >= 300 && status < 400) return "redirect";
  if (status < 200 || status > 599) return "bad_status";
  const table = headers.toJSON();
  let size = 0;
  for (const name in table) size += name.length + (table[name]?.length ?? 0);
  return size > HEADER_BYTES_MAX ? "headers_too_large" : null;
}
