import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { newStore } from "./store.ts";

/** A refusal of the gateway, or no answer from it. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly facts: ApiErrorFacts;
  constructor(message: string, facts: ApiErrorFacts) {
    super(message);
    this.facts = facts;
  }
}

type ApiErrorFacts = {
  /** 0: no answer came. */
  status: number;
  type: string;
  /** For the logs and the audit; null: no answer came. */
  requestId: string | null;
};

export const statusOf = (error: unknown): number | null =>
  error instanceof ApiError ? error.facts.status : null;

/** Whether the last call had an answer. */
export const reachable = newStore(true);

/** One call of an address of the API with the session's cookie. @throws ApiError */
export async function api(path: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(path, { credentials: "same-origin", ...init }).catch((error: unknown) => {
    // What was no longer wanted is no failure.
    if (init.signal?.aborted) throw error;
    reachable.set(false);
    throw new ApiError("The gateway did not answer.", { status: 0, type: "unreachable", requestId: null });
  });
  reachable.set(true);
  if (answer.ok) return answer;
  throw await errorOf(answer);
}

async function errorOf(answer: Response): Promise<ApiError> {
  const { message, type } = errorIn(await answer.text());
  const requestId = answer.headers.get("x-request-id");
  return new ApiError(message ?? `The gateway answered with status ${answer.status}.`, {
    status: answer.status,
    type: type ?? "unknown",
    requestId,
  });
}

function errorIn(text: string): { message?: string; type?: string } {
  try {
    return JSON.parse(text).error ?? {};
  } catch {
    return {};
  }
}

/** `T` is the schema's type under which the address is documented. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await api(path, signal ? { signal } : {});
  return await answer.json();
}

export type Sending = { method: "POST" | "PUT" | "PATCH" | "DELETE"; body?: unknown; signal?: AbortSignal };

/** The answer; an address without one is asked with `T` as null. */
export async function sendJson<T>(path: string, { method, body, signal }: Sending): Promise<T> {
  const answer = await api(path, {
    method,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
    ...(signal && { signal }),
  });
  const text = await answer.text();
  return JSON.parse(text === "" ? "null" : text);
}

export const postJson = <T>(path: string, body?: unknown): Promise<T> =>
  sendJson<T>(path, { method: "POST", body });

/** Sends a CSV file, or one of JSON. */
export const postFile = async <T>(path: string, file: File | null): Promise<T> =>
  (await api(path, { method: "POST", body: file, headers: { "content-type": "text/csv" } })).json();

/** `?a=1&b=2`, without what is absent; empty where nothing is left. */
export function queryOf(values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}

type Options<T> = Omit<UseQueryOptions<T>, "queryKey" | "queryFn">;

/** What an address of the API answers, kept under `queryKey`. */
export const useJson = <T>(queryKey: readonly unknown[], path: string, options: Options<T> = {}) =>
  useQuery<T>({ ...options, queryKey, queryFn: ({ signal }) => getJson<T>(path, signal) });
