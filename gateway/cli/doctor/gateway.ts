import { Type } from "@sinclair/typebox";
import type { SessionId } from "#shared/labels.ts";
import { fits, nullable, open } from "#shared/schema.ts";
import type { Secret } from "../../directory.ts";
import { ApiError, apiAt } from "../client/api.ts";
import { attemptCheck, type Finding, failed, passed, skipped } from "./finding.ts";

export type GatewayUnderTest = {
  url: string;
  client: Secret | null;
  admin: Secret | null;
  model: string;
  session: SessionId;
};

const START = "Start it with `bun run start`, or name another with --url or TALLYGATE_URL.";

/** From the gateway's port to the record of a call: each check depends on the ones before it. */
export async function* gatewayFindings(it: GatewayUnderTest): AsyncGenerator<Finding> {
  const health = await statusOf(`${it.url}/healthz`);
  if (health === null) return yield failed(`The gateway at ${it.url} does not answer.`, START);
  if (health !== 200) {
    return yield failed(`What answers at ${it.url} is no gateway (status ${health}).`, START);
  }
  const ready = await statusOf(`${it.url}/readyz`);
  yield ready === 200
    ? passed(`The gateway at ${it.url} is ready.`)
    : failed(
        `The gateway at ${it.url} cannot record now (status ${ready}).`,
        "Check its log. Is the database running?",
      );
  if (it.client === null) {
    yield skipped("No call was made.", "Set TALLYGATE_KEY to a client key: `tallygate keys create <name>`.");
    return;
  }
  const called = await attemptCheck("No call can be made.", () => callOnce(it));
  yield called;
  if (called.state === "passed")
    yield await attemptCheck("The call's record cannot be read.", () => recordOf(it));
}

async function callOnce({ model, session, url, client }: GatewayUnderTest): Promise<Finding> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    signal: AbortSignal.timeout(60_000),
    headers: {
      authorization: `Bearer ${client?.reveal()}`,
      "content-type": "application/json",
      "x-session-id": session,
      "x-client": "tallygate-doctor",
    },
    body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: "user", content: "Hello" }] }),
  });
  await answer.body?.cancel();
  const { status } = answer;
  if (status === 200) return passed(`A call of ${model} is answered, with the session ${session}.`);
  const remedies: Record<number, string> = {
    401: "The key is unknown, expired or revoked: `tallygate keys list --all`.",
    403: `The key may not use ${model}: name a route of its scope with --model.`,
    404: `No route or model is named ${model}: name another with --model.`,
    402: "The budget of the key is used up: `tallygate keys list`.",
    429: "A limit of the key is reached: `tallygate keys list`.",
    502: "The provider cannot be reached from the gateway.",
    503: "The gateway cannot record now, or the provider has no credential.",
  };
  return failed(
    `A call of ${model} got status ${status}.`,
    remedies[status] ?? "This is the provider's own answer. Check with the provider.",
  );
}

const Records = open({
  data: Type.Array(
    open({
      id: Type.String(),
      state: Type.String(),
      cost_usd: nullable(Type.String()),
      key_name: nullable(Type.String()),
      owner: nullable(Type.String()),
    }),
  ),
});
const LOOKS = 20;
const BETWEEN_MS = 250;

async function recordOf({ url, admin, session }: GatewayUnderTest): Promise<Finding> {
  if (admin === null)
    return skipped("Its record was not looked for.", "That takes the admin key: ADMIN_KEY, or DATA_DIR.");
  const api = apiAt(url, admin);
  for (let looks = 0; looks < LOOKS; looks++) {
    const page = await api.call("GET", `/admin/v1/requests?session=${session}`);
    const record = fits(Records, page) ? page.data[0] : undefined;
    if (record) {
      const whose = record.owner ?? `the key ${record.key_name}`;
      const cost =
        record.cost_usd === null ? "of unknown cost: enter a price for the model" : `USD ${record.cost_usd}`;
      return passed(`Its record is there: ${record.state}, ${cost}, of ${whose}.`);
    }
    await Bun.sleep(BETWEEN_MS);
  }
  return failed(
    "Its record does not appear.",
    "Is the database running? `tallygate_spool_oldest_seconds` at /metrics shows how long records wait.",
  );
}

const Settings = open({ pull_request_stamping: Type.Boolean() });

/** Whether joining of pull requests is switched on. */
export async function stampingFinding({ url, admin }: GatewayUnderTest): Promise<Finding> {
  if (admin === null)
    return skipped("Whether stamping is on was not looked at.", "That takes the admin key.");
  try {
    const settings = await apiAt(url, admin).call("GET", "/admin/v1/settings");
    if (fits(Settings, settings) && settings.pull_request_stamping)
      return passed("Pull-request stamping is on.");
    return failed(
      "Pull-request stamping is off, so the GitHub App stores nothing.",
      "Switch it on: `settings: { pull_request_stamping: true }` in a file for `tallygate apply`.",
    );
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      return failed(
        "The admin key is not this gateway's.",
        "Set ADMIN_KEY or DATA_DIR as the gateway has them.",
      );
    }
    throw error;
  }
}

/** Whether the GitHub App answers and can store GitHub's deliveries. */
export async function appFinding(url: string): Promise<Finding> {
  const ready = await statusOf(`${url}/readyz`);
  if (ready === 200) return passed(`The GitHub App at ${url} is ready.`);
  return ready === null
    ? failed(
        `The GitHub App at ${url} does not answer.`,
        "`bun run start` starts it. Name another address with --app-url.",
      )
    : failed(
        `The GitHub App at ${url} cannot store deliveries now (status ${ready}).`,
        "Check its log. Is the database running?",
      );
}

const statusOf = (url: string): Promise<number | null> =>
  fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "manual" }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.status;
    },
    () => null,
  );
