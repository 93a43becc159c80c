import { Type } from "@sinclair/typebox";
import { fits, open } from "#shared/schema.ts";
import { ApiError, noAnswerText } from "./api.ts";

const Codes = open({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer({ minimum: 1 }),
  interval: Type.Integer({ minimum: 1, maximum: 600 }),
});
const Granted = open({ access_token: Type.String(), email: Type.Optional(Type.String()) });
const Refusal = open({ error: Type.String(), error_description: Type.Optional(Type.String()) });

const ANSWER_MS_MAX = 10_000;
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Posts a form to a gateway. A redirect could lead a key elsewhere, so none is followed. */
const post = (url: string, fields: Record<string, string>): Promise<Response> =>
  fetch(url, {
    method: "POST",
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
    body: new URLSearchParams(fields),
  });

const json = (answer: Response): Promise<unknown> => answer.json().catch(() => null);

/** Asks a gateway for a code that a person can approve. @throws ApiError */
export async function beginSignIn(url: string, deviceName: string) {
  const asked = post(`${url}/oauth/device_authorization`, { surface: "tallygate", device_name: deviceName });
  const answer = await asked.catch((error: unknown) => {
    throw new ApiError(null, noAnswerText(url, error));
  });
  const body = await json(answer);
  if (answer.ok && fits(Codes, body)) return body;
  if (answer.status === 429) throw new ApiError(429, "Too many sign-ins are unfinished. Try again later.");
  throw new ApiError(answer.status, `The server at ${url} does not offer device sign-in (${answer.status}).`);
}

export type Poll = "pending" | "slow_down" | { key: string; email: string | null };

/** Asks once whether a person has approved. @throws ApiError once nobody can any more. */
export async function pollSignIn(url: string, deviceCode: string): Promise<Poll> {
  const fields = { grant_type: DEVICE_GRANT, device_code: deviceCode };
  const answer = await post(`${url}/oauth/token`, fields).catch(() => null);
  // The gateway may be away for a moment, as during a restart.
  if (answer === null || answer.status >= 500) return "pending";
  const body = await json(answer);
  if (answer.ok && fits(Granted, body)) return { key: body.access_token, email: body.email ?? null };
  const { error, error_description: why } = fits(Refusal, body) ? body : { error: "" };
  if (error === "authorization_pending") return "pending";
  if (error === "slow_down") return "slow_down";
  if (error === "access_denied") throw new ApiError(answer.status, why ?? "The sign-in was refused.");
  if (error === "expired_token") throw new ApiError(answer.status, EXPIRED);
  throw new ApiError(answer.status, `The gateway answered ${answer.status}.`);
}

export const EXPIRED = "The code has expired. Run `tallygate login` again.";

/** Has a gateway revoke a key; false: it did not answer, or not as a gateway does. */
export const revokeAt = (url: string, key: string): Promise<boolean> =>
  post(`${url}/oauth/revoke`, { token: key }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false,
  );
