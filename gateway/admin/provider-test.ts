import { within } from "#drizzle/database.ts";
import { ProviderBody, ProviderTestResult } from "#shared/admin/providers.ts";
import { isRecord } from "#shared/json.ts";
import type { Provider } from "../directory.ts";
import { type FailureCause, GatewayError, orNotFound } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { PROVIDERS } from "../providers/catalog.ts";
import { supportsSurface } from "../providers/endpoint.ts";
import type { ProviderFacts } from "../providers/provider-facts.ts";
import { providerOf } from "../stores/directory/provider-rows.ts";
import { editedProvider } from "../stores/providers.ts";
import { failureCauseOf } from "../upstream/failures.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";
import { type AdminDeps, adminPart } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { requireSafe } from "./providers.ts";

const docs = adminRoute("providers");

const DESCRIPTION =
  "Asks it for its list of models, with its credential. Nothing is recorded, and no model is called.";

/** Asks a provider for its models, which costs nothing: one that is stored, or one before it is. */
export const adminProviderTest = (deps: AdminDeps) =>
  adminPart(deps, "providers")
    .post(
      "/:name/test",
      ({ params }): Promise<ProviderTestResult> => {
        const provider = orNotFound(deps.directory.current().providers.get(params.name));
        return tested(deps, provider);
      },
      docs({ summary: "Test a provider", description: DESCRIPTION, answers: { 200: ProviderTestResult } }),
    )
    .post(
      "/test",
      async ({ request }): Promise<ProviderTestResult> => {
        const body = await readJson(deps, request, ProviderBody);
        const { clock, sealer } = deps;
        const edit = { name: body.name, current: null, body, merge: false };
        const row = editedProvider({ ...edit, sealer, now: clock.now() });
        await requireSafe(row, deps);
        const provider = providerOf(row, deps);
        if (!provider) throw new GatewayError("invalid_request");
        return tested(deps, provider);
      },
      docs({
        summary: "Test a provider before it is created",
        description: DESCRIPTION,
        body: ProviderBody,
        answers: { 200: ProviderTestResult },
      }),
    );

async function tested({ providerApi, clock }: AdminDeps, provider: Provider): Promise<ProviderTestResult> {
  const from = clock.monotonicMs();
  const finding = (
    it: Omit<ProviderTestResult, "latency_ms" | "models">,
    models: string[] = [],
  ): ProviderTestResult => ({
    ...it,
    models,
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
    const { ok, status } = answer;
    if (!ok) await answer.body?.cancel();
    const models = ok ? await modelsIn(answer) : [];
    return finding({ ok, message: wordsOf(status), status, cause: null }, models);
  } catch (error) {
    if (error instanceof GatewayError && error.type === "provider_unconfigured")
      return finding({ ...UNCONFIGURED });
    const cause = failureCauseOf(error);
    return finding({ ok: false, message: CAUSES[cause] ?? "No answer came.", status: null, cause });
  }
}

const LIST_BYTES_MAX = 8 * 1024 * 1024;
const LIST_MS_MAX = 10_000;
const MODELS_MAX = 1000;

/** The ids in a list of models; empty where it is no such list, or too long. Google's begin with `models/`. */
async function modelsIn(answer: Response): Promise<string[]> {
  try {
    const tooLong = () => new Error("The list of models is too long.");
    const bytes = await within(LIST_MS_MAX, bytesUpTo(answer, LIST_BYTES_MAX, tooLong));
    const list: unknown = JSON.parse(bytes.toString());
    const data = isRecord(list) && Array.isArray(list["data"]) ? list["data"] : [];
    const ids = data.flatMap((it: unknown) => {
      const id = isRecord(it) ? it["id"] : null;
      return typeof id === "string" && id !== "" && id.length <= 256 ? id.replace(/^models\//, "") : [];
    });
    return [...new Set(ids)].sort().slice(0, MODELS_MAX);
  } catch {
    return [];
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
