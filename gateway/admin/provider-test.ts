import { ProviderTestResult } from "#shared/admin/providers.ts";
import type { Provider } from "../directory.ts";
import { type FailureCause, GatewayError } from "../errors.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { supportsSurface } from "../providers/endpoint.ts";
import type { ProviderFacts } from "../providers/provider-facts.ts";
import { failureCauseOf } from "../upstream/failures.ts";
import { type AdminDeps, adminPart } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("providers");

/** `POST /admin/v1/providers/{name}/test`: asks a provider for its models, which costs nothing. */
export const adminProviderTest = (deps: AdminDeps) =>
  adminPart(deps, "providers").post(
    "/:name/test",
    ({ params }): Promise<ProviderTestResult> => {
      const provider = deps.directory.current().providers.get(params.name);
      if (!provider) throw new GatewayError("not_found");
      return tested(deps, provider);
    },
    docs({
      summary: "Test a provider",
      description:
        "Asks it for its list of models, with its credential. Nothing is recorded, and no model is called.",
      answers: { 200: ProviderTestResult },
    }),
  );

async function tested({ providerApi, clock }: AdminDeps, provider: Provider): Promise<ProviderTestResult> {
  const from = clock.monotonicMs();
  const finding = (it: Omit<ProviderTestResult, "latency_ms">): ProviderTestResult => ({
    ...it,
    latency_ms: Math.round(clock.monotonicMs() - from),
  });
  if (provider.kind === "echo") return finding({ ...IN_PROCESS });
  const facts: ProviderFacts = PROVIDERS[provider.kind];
  if (facts.hostedBy !== undefined) return finding({ ...NO_LIST });
  const isAnthropic = supportsSurface(provider, "messages");
  try {
    const answer = await providerApi({
      method: "GET",
      provider,
      wire: isAnthropic ? "messages" : "chat",
      path: isAnthropic ? "/v1/models" : "/models",
    });
    await answer.body?.cancel();
    return finding({ ok: answer.ok, message: wordsOf(answer.status), status: answer.status, cause: null });
  } catch (error) {
    if (error instanceof GatewayError && error.type === "provider_unconfigured")
      return finding({ ...UNCONFIGURED });
    const cause = failureCauseOf(error);
    return finding({ ok: false, message: CAUSES[cause] ?? "No answer came.", status: null, cause });
  }
}

const IN_PROCESS = { ok: true, message: "It answers in this process.", status: null, cause: null };
const NO_LIST = {
  ok: false,
  message: "This kind of provider has no list of models to ask for. Make a call to test it.",
  status: null,
  cause: null,
};
const UNCONFIGURED = {
  ok: false,
  message: "It is disabled or has no credential. Enable it, and enter the vendor's API key.",
  status: null,
  cause: null,
};

function wordsOf(status: number): string {
  if (status < 300) return "The provider answered and accepts the credential.";
  if (status === 401 || status === 403)
    return `The provider refuses the credential (status ${status}). Enter another one.`;
  if (status === 404)
    return "The server answered, but has no list of models at this address (404). Check the address.";
  if (status === 429) return "The credential works, but is over its limit at the moment (429).";
  return `The provider answered with status ${status}.`;
}

const CAUSES: Partial<Record<FailureCause, string>> = {
  dns: "The host name is unknown. Check the address.",
  address_refused: "The address is private or loopback. Allow private addresses if it is yours.",
  refused: "Nothing listens at this address. Check the host and the port.",
  unroutable: "The host cannot be reached from here.",
  tls: "The TLS certificate is not accepted.",
  timeout_connect: "No connection came about in time.",
  timeout_first_byte: "The provider took the request and did not answer in time.",
  redirect: "The server redirects to another address. Enter the final one.",
  reset: "The connection was closed before an answer came.",
};
