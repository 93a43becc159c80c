type Headers = Readonly<Record<string, string | number | undefined>>;

/** The wait if GitHub refuses without a duration. */
const DEFAULT_WAIT_MS = 60_000;
/** GitHub rounds to seconds. */
const ROUNDING_MS = 1000;

/** How long GitHub asks to wait, when `error` is its refusal of too many calls; else null. */
export function waitMsOf(error: unknown, now: Date): number | null {
  const status = statusOf(error);
  if (status !== 403 && status !== 429) return null;
  const isSecondary = error instanceof Error && isSecondaryText(error.message);
  return refusedMs({ status, headers: headersOf(error), isSecondary }, now);
}

/** How long an answer asks to wait: by a refusal, or because it used up the limit; else null. */
export async function waitMsOfAnswer(answer: Response, now: Date): Promise<number | null> {
  const { status } = answer;
  const headers = Object.fromEntries(answer.headers);
  if (status !== 403 && status !== 429) return isUsedUp(headers) ? waitOf(headers, now) : null;
  const known = refusedMs({ status, headers, isSecondary: false }, now);
  if (known !== null) return known;
  return isSecondaryText(await answer.clone().text()) ? DEFAULT_WAIT_MS : null;
}

function refusedMs(
  { status, headers, isSecondary }: { status: number; headers: Headers; isSecondary: boolean },
  now: Date,
): number | null {
  const after = Number(headers["retry-after"]);
  if (after > 0) return after * 1000 + ROUNDING_MS;
  if (isUsedUp(headers)) return waitOf(headers, now);
  return status === 429 || isSecondary ? DEFAULT_WAIT_MS : null;
}

const isUsedUp = (headers: Headers): boolean => String(headers["x-ratelimit-remaining"]) === "0";

/** Until the limit is reset, by GitHub's own clock where it is known. */
function waitOf(headers: Headers, now: Date): number {
  const resetMs = Number(headers["x-ratelimit-reset"]) * 1000;
  if (!(resetMs > 0)) return DEFAULT_WAIT_MS;
  const date = Date.parse(String(headers["date"]));
  const nowMs = Number.isNaN(date) ? now.getTime() : date;
  return Math.max(ROUNDING_MS, resetMs - nowMs + ROUNDING_MS);
}

const isSecondaryText = (text: string): boolean => /secondary rate/i.test(text);

/** The HTTP status of Octokit's error, or null. */
export const statusOf = (error: unknown): number | null =>
  error instanceof Error && "status" in error && typeof error.status === "number" ? error.status : null;

function headersOf(error: unknown): Headers {
  const response = error instanceof Error && "response" in error ? error.response : null;
  const headers =
    typeof response === "object" && response !== null && "headers" in response ? response.headers : {};
  // Octokit's response headers are texts by name.
  return headers as Headers;
}

/** Whether GitHub says that the App lacks a permission or may not act there any more. */
export const lacksPermission = (error: unknown): boolean =>
  statusOf(error) === 403 &&
  error instanceof Error &&
  /Resource not accessible by integration|installation has been suspended/.test(error.message);
