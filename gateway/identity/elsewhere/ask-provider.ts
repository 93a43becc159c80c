import { parsedJson } from "#shared/json.ts";
import type { HeaderTable } from "../../http/headers.ts";
import type { OutboundFetch } from "../../upstream/outbound-fetch.ts";
import { SignInFault } from "./way-in.ts";

type Question = { method?: "GET" | "POST"; headers?: HeaderTable; body?: URLSearchParams };

/** One request to an identity provider. @throws SignInFault unavailable: no answer in time, or a fault of its own. */
export type AskProvider = (url: string, question?: Question) => Promise<{ status: number; body: unknown }>;

/** Time that an identity provider has for an answer. */
export const ANSWER_MS_MAX = 10_000;

/** The body is null where it is not JSON. Issuers are settings, and often in a private network. */
export const askProvider =
  (reach: OutboundFetch): AskProvider =>
  async (url, { method = "GET", headers = {}, body } = {}) => {
    const request = {
      method,
      headers: { accept: "application/json", ...headers },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      ...(body && { body: body.toString() }),
    };
    try {
      const answer = await reach({ url, allowPrivateNetwork: true }, request);
      const text = await answer.text();
      if (answer.status >= 500) throw new Error(`status ${answer.status}`);
      return { status: answer.status, body: parsedJson(text) };
    } catch (error) {
      throw new SignInFault("unavailable", null, error);
    }
  };
