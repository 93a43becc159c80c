import { Type } from "@sinclair/typebox";
import { parsedJson } from "#shared/json.ts";
import type { SessionId } from "#shared/labels.ts";
import { fits, nullable, open } from "#shared/schema.ts";
import type { Secret } from "../../directory.ts";
import { ApiError, apiAt, noAnswerText } from "../client/api.ts";
import { START_COMMAND } from "../own-program.ts";
import { attemptCheck, type Finding, failed, passed, skipped } from "../print/finding.ts";

export type GatewayUnderTest = {
  url: string;
  client: Secret | null;
  admin: Secret | null;
  /** The model that the one call asks for; null: the built-in one, which no vendor bills, if the key may use it. */
  model: string | null;
  session: SessionId;
};

const START = `Is the address right (--url or TALLYGATE_URL)? On the gateway's own machine, \`${START_COMMAND}\` starts it.`;

/** Said where there is no key to call with. */
export const NO_CALL = "No call was made.";

/** From the gateway's port to the record of a call: each check depends on the ones before it. */
export async function* gatewayFindings(it: GatewayUnderTest): AsyncGenerator<Finding> {
  const address = await addressFinding(it.url);
  if (address) return yield address;
  const ready = await statusOf(`${it.url}/readyz`);
  yield ready === 200
    ? passed(`The gateway at ${it.url} is ready.`)
    : failed(
        `The gateway at ${it.url} cannot record calls at the moment (status ${ready}).`,
        "Tell its administrator, or check its log. Is the database running?",
      );
  if (it.client === null) {
    yield skipped(NO_CALL, "Run `tallygate login`, or set TALLYGATE_KEY to a client key.");
    return;
  }
  const called = await attemptCheck("No call can be made.", () => callOnce(it));
  yield called;
  if (called.state === "passed" && it.admin !== null)
    yield await attemptCheck("The call's record cannot be read.", () => recordOf(it));
}

/** What is wrong with the address, if anything is. */
async function addressFinding(url: string): Promise<Finding | null> {
  const ready = await ask(`${url}/readyz`).catch((error: unknown) => error);
  if (!(ready instanceof Response))
    return failed(`The gateway at ${url} does not answer.`, noAnswerText(url, ready));
  if (await isGateways(ready)) return null;
  const { origin, pathname } = new URL(url);
  if (
    pathname !== "/" &&
    (await ask(`${origin}/readyz`)
      .then(isGateways)
      .catch(() => false))
  ) {
    return failed(`The gateway's address has no path, and ${url} has one.`, `Set TALLYGATE_URL=${origin}.`);
  }
  return failed(`The server at ${url} is not a Tallygate gateway (status ${ready.status}).`, START);
}

const Ready = open({ can: open({ model_calls: Type.Boolean() }) });
const isGateways = async (answer: Response) => fits(Ready, parsedJson(await answer.text()));

async function callOnce({ model: named, session, url, client }: GatewayUnderTest): Promise<Finding> {
  const model = named ?? "echo";
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
  if (status === 403 && named === null) {
    return skipped(
      "The gateway accepts the key. No call was made.",
      "Name a route that the key may use with --model.",
    );
  }
  const remedies: Record<number, string> = {
    401: keyRemedy(client?.reveal() ?? ""),
    402: "The budget is used up. Ask an administrator to raise it, or wait for the next period.",
    403: `The key may not use ${model}. Name a route in its scope with --model.`,
    404: `The gateway has no route or model named ${model}. Name another with --model. Is the address correct?`,
    429: "The key has reached a limit. Try again later, or ask an administrator to raise it.",
    502: "The provider cannot be reached from the gateway.",
    503: "The gateway cannot record calls at the moment, or the provider has no credential.",
  };
  return failed(
    `A call of ${model} got status ${status}.`,
    remedies[status] ?? "The answer came from the provider. Check with the provider.",
  );
}

function keyRemedy(key: string): string {
  if (key.startsWith("tga_"))
    return "This is an admin key. Set TALLYGATE_KEY to a client key, which begins with tg_.";
  if (!/^tg_[0-9A-Za-z]{43}$/.test(key)) {
    return "TALLYGATE_KEY is not a client key. A client key begins with tg_ and has 46 characters. Was all of it copied?";
  }
  return "The key is unknown, expired or revoked. Get a new one with `tallygate login`. Administrators can see why with `tallygate keys list --all`.";
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
  if (admin === null) return skipped("The call's record was not checked.", "This check needs the admin key.");
  const api = apiAt(url, admin);
  for (let looks = 0; looks < LOOKS; looks++) {
    const page = await api.call("GET", `/admin/v1/requests?session=${session}`);
    const record = fits(Records, page) ? page.data[0] : undefined;
    if (record) {
      const whose = record.owner ?? `the key ${record.key_name}`;
      const cost =
        record.cost_usd === null ? "unknown cost (enter a price for the model)" : `USD ${record.cost_usd}`;
      return passed(`The call is recorded: ${record.state}, ${cost}, ${whose}.`);
    }
    await Bun.sleep(BETWEEN_MS);
  }
  return failed(
    "The call's record does not appear.",
    "Is the database running? `tallygate_spool_oldest_seconds` at /metrics shows how long records wait.",
  );
}

const Settings = open({ pull_request_stamping: Type.Boolean() });

export async function stampingFinding({ url, admin }: GatewayUnderTest): Promise<Finding> {
  if (admin === null)
    return skipped("Pull-request stamping was not checked.", "This check needs the admin key.");
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
        "This gateway does not accept the admin key.",
        "Set ADMIN_KEY or DATA_DIR to the gateway's values.",
      );
    }
    throw error;
  }
}

export async function appFinding(url: string): Promise<Finding> {
  const ready = await statusOf(`${url}/readyz`);
  if (ready === 200) return passed(`The GitHub App at ${url} is ready.`);
  return ready === null
    ? failed(
        `The GitHub App at ${url} does not answer.`,
        `\`${START_COMMAND}\` starts it. Name another address with --app-url.`,
      )
    : failed(
        `The GitHub App at ${url} cannot store deliveries at the moment (status ${ready}).`,
        "Check its log. Is the database running?",
      );
}

const ask = (url: string) => fetch(url, { signal: AbortSignal.timeout(5_000), redirect: "manual" });

const statusOf = (url: string): Promise<number | null> =>
  ask(url).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.status;
    },
    () => null,
  );
