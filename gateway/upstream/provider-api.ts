import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type HeaderTable, upstreamHeaders } from "../http/headers.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { credentialHeader, providerUrl, vendorUrl } from "../providers/endpoint.ts";
import type { WireName } from "../surface-facts.ts";
import { answerFault, ProviderFailure, UnansweredRequest, unanswered } from "./failures.ts";
import type { OutboundFetch, OutboundRequest } from "./outbound-fetch.ts";
import type { Watchdog } from "./watchdog.ts";

/** Deadline for an answer, extended while the request body is being sent. */
const ANSWER_MS = 120_000;

/** A request about an object stored by the provider: a file or a batch. */
type ProviderApiRequest = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  provider: Provider;
  wire: WireName;
  /** Below the provider's API root; made of constants and checked ids. */
  path: string;
  /** `path` is the vendor's own, below its host; with further headers. */
  own?: HeaderTable;
  /** The client's headers, to be filtered by the allow-list; absent for the gateway's own requests. */
  headers?: Headers;
  body?: Uint8Array | StreamedBody;
  signal?: AbortSignal;
};

/** A body produced on demand; each pull calls `moved`. */
export type StreamedBody = { bytes(moved: () => void): ReadableStream<Uint8Array> };

/** @throws GatewayError upstream_unreachable, upstream_broken, upstream_timeout, provider_unconfigured */
export type ProviderApi = (call: ProviderApiRequest) => Promise<Response>;

export type ProviderApiDeps = { reach: OutboundFetch; clock: Clock; watchdog: Watchdog; log: Log };

/** Follows the rules of every outbound call: no redirects, no decoding, no internal addresses. */
export function createProviderApi({ reach, clock, watchdog, log }: ProviderApiDeps): ProviderApi {
  return async (call) => {
    const { provider, path } = call;
    requireConfigured(provider);
    const url = call.own ? vendorUrl(provider, path) : providerUrl(provider, path);
    const deadline = new AbortController();
    const watched = { deadlineMs: clock.monotonicMs() + ANSWER_MS, expire: () => deadline.abort() };
    const moved = () => {
      watched.deadlineMs = clock.monotonicMs() + ANSWER_MS;
    };
    watchdog.watch(watched);
    try {
      const answer = await reach(
        { url, allowPrivateNetwork: provider.allowPrivateNetwork },
        requestOf(call, deadline.signal, moved),
      );
      const fault = answerFault(answer, answer.headers);
      if (!fault) return answer;
      await answer.body?.cancel();
      throw new ProviderFailure(fault);
    } catch (cause) {
      const error = unanswered({
        who: `provider ${provider.name}`,
        cause,
        late: deadline.signal.aborted,
      });
      if (error instanceof UnansweredRequest && !call.signal?.aborted) {
        const facts = { provider: provider.name, type: error.type, cause: error.reason };
        log.warn({ ...facts, ...errorFields(cause) }, "a provider did not answer");
      }
      throw error;
    } finally {
      watchdog.release(watched);
    }
  };
}

function requireConfigured({ kind, enabled, credential }: Provider): void {
  const { auth } = PROVIDERS[kind];
  if (!enabled || (credential === null && auth !== "none")) throw new GatewayError("provider_unconfigured");
}

function requestOf(call: ProviderApiRequest, deadline: AbortSignal, moved: () => void): OutboundRequest {
  const { method, provider, wire, headers, body, signal } = call;
  return {
    method,
    headers: { ...headersFor(provider, wire, { from: headers, hasBody: body !== undefined }), ...call.own },
    body: body === undefined || body instanceof Uint8Array ? (body ?? null) : body.bytes(moved),
    signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
    decompress: false,
  };
}

type Origin = { from: Headers | undefined; hasBody: boolean };

function headersFor(provider: Provider, wire: WireName, { from, hasBody }: Origin): HeaderTable {
  const headers = upstreamHeaders(from ?? new Headers(), wire);
  if (!hasBody) delete headers["content-type"];
  for (const [name, value] of Object.entries(provider.headers)) headers[name.toLowerCase()] = value.reveal();
  const credential = credentialHeader(provider, wire);
  if (credential) headers[credential[0]] = credential[1];
  return headers;
}
