import type { JsonBody } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { BATCH } from "../http/deciding-names.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { refuseBatchInLane } from "../routing/subscription-lane.ts";
import { findFile } from "../stores/batches.ts";
import { answerInFull, batchAnswer, relayedAnswer } from "./answers.ts";
import { type BatchDeps, notFoundAtVendor, providerNamed, requireProviderId } from "./deps.ts";
import { singleMember } from "./request-lines.ts";
import { requireScopeStill } from "./resolve.ts";
import { requireBudget, saveBatch } from "./save-batch.ts";

/** The only window that providers accept. */
const PROVIDERS_WINDOW = "24h";
const WINDOW = /^(\d{1,4})([hm])$/;
const WINDOW_MINUTES_MAX = 24 * 60;

export type BatchRequest = { key: ClientKey; headers: Headers; bytes: Uint8Array; origin: string };

/**
 * `POST /v1/batches`: a batch over a file that the same key uploaded; any other file is answered as not found (spec,
 * endpoint table).
 */
export async function createLineBatch(
  deps: BatchDeps,
  { key, headers, bytes, origin }: BatchRequest,
): Promise<Response> {
  refuseBatchInLane(headers);
  const body = scanJson(bytes, BATCH);
  requireWindow(memberValue(body, "completion_window"));
  const inputFileId = requireProviderId(memberValue(body, "input_file_id"), "file");
  const file = await findFile(deps.database, key.id, inputFileId);
  if (!file) throw notFoundAtVendor("file");
  if (file.endpoint === null || memberValue(body, "endpoint") !== file.endpoint) {
    throw new GatewayError("invalid_request", "`endpoint` must be the `url` of the file's lines.");
  }
  requireScopeStill(key, file);
  await requireBudget(deps, key);
  const provider = providerNamed(deps, file.provider);
  const answer = await deps.providerApi({
    method: "POST",
    provider,
    wire: "chat",
    path: "/batches",
    headers,
    body: withProvidersWindow(body),
  });
  const answerBytes = await answerInFull(answer);
  if (!answer.ok) return relayedAnswer(answer, answerBytes);
  const { endpoint, routes, models, direct } = file;
  const facts = { endpoint, inputFileId, completionWindow: PROVIDERS_WINDOW, routes, models, direct };
  const row = await saveBatch(
    deps,
    { kind: "lines", key, headers, provider, labelled: body, facts },
    answerBytes,
  );
  return batchAnswer(answer, answerBytes, { row, origin });
}

/** @throws GatewayError invalid_request unless it is `<n>h` or `<n>m`, above 0 and at most 24 hours. */
function requireWindow(window: unknown): void {
  const [, count, unit] = (typeof window === "string" ? WINDOW.exec(window) : null) ?? [];
  const minutes = Number(count) * (unit === "h" ? 60 : 1);
  if (!(minutes > 0 && minutes <= WINDOW_MINUTES_MAX)) {
    throw new GatewayError(
      "invalid_request",
      "`completion_window` must be a number of hours or minutes such as `24h` or `90m`, at most 24 hours.",
    );
  }
}

function withProvidersWindow(body: JsonBody): Uint8Array {
  for (const name of ["input_file_id", "endpoint"]) singleMember(body, name);
  const { valueStart, valueEnd } = singleMember(body, "completion_window");
  const { bytes } = body;
  const window = Buffer.from(JSON.stringify(PROVIDERS_WINDOW));
  return Buffer.concat([bytes.subarray(0, valueStart), window, bytes.subarray(valueEnd)]);
}
