import type { JsonBody } from "../call.ts";
import type { ClientKey } from "../directory.ts";
import { refuse } from "../errors.ts";
import { BATCH } from "../http/deciding-names.ts";
import { memberValue, scanJson } from "../http/scan.ts";
import { isBudgeted } from "../limits/key-budgets.ts";
import { parsePico } from "../limits/money.ts";
import { refuseBatchInLane } from "../routing/subscription-lane.ts";
import { type FileRow, findFile } from "../stores/batches.ts";
import { type BatchDeps, notFoundAtVendor, providerNamed, requireProviderId } from "./deps.ts";
import { singleMember } from "./request-lines.ts";
import { requireScopeStill } from "./resolve.ts";
import { type BatchBound, chargedKey, createBatch } from "./save-batch.ts";

/** The only window that providers accept. */
const PROVIDERS_WINDOW = "24h";
const WINDOW = /^(\d{1,4})([hm])$/;
const WINDOW_MINUTES_MAX = 24 * 60;

export type BatchRequest = { key: ClientKey; headers: Headers; bytes: Uint8Array; origin: string };

/** `POST /v1/batches`: a batch over the key's own file; any other is not found (spec, endpoint table). */
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
  const { endpoint, routes, models, direct } = file;
  if (endpoint === null || memberValue(body, "endpoint") !== endpoint)
    refuse("`endpoint` must be the `url` of the file's lines.");
  requireScopeStill(key, file);
  const provider = providerNamed(deps, file.provider);
  const facts = { endpoint, inputFileId, completionWindow: PROVIDERS_WINDOW, routes, models, direct };
  const bodies = { body: withProvidersWindow(body), labelled: body };
  const batch = { kind: "lines", key, headers, provider, ...bodies, facts, origin } as const;
  return await createBatch(deps, boundOf(chargedKey(deps, batch), file), batch);
}

/** @throws GatewayError invalid_request if the file was uploaded while no budget counted it. */
function boundOf(key: ClientKey, { boundUsd, unpriced }: FileRow): BatchBound {
  if (boundUsd !== null) return { usd: parsePico(boundUsd), unpriced };
  if (!isBudgeted(key)) return { usd: 0n, unpriced };
  refuse(
    "No budget counted the key when this file was uploaded, so what its requests may cost is not known. Upload it again.",
  );
}

/** @throws GatewayError invalid_request unless it is `<n>h` or `<n>m`, above 0 and at most 24 hours. */
function requireWindow(window: unknown): void {
  const [, count, unit] = (typeof window === "string" ? WINDOW.exec(window) : null) ?? [];
  const minutes = Number(count) * (unit === "h" ? 60 : 1);
  if (!(minutes > 0 && minutes <= WINDOW_MINUTES_MAX))
    refuse(
      "`completion_window` must be a number of hours or minutes such as `24h` or `90m`, at most 24 hours.",
    );
}

function withProvidersWindow(body: JsonBody): Uint8Array {
  for (const name of ["input_file_id", "endpoint"]) singleMember(body, name);
  const { valueStart, valueEnd } = singleMember(body, "completion_window");
  const { bytes } = body;
  const window = Buffer.from(JSON.stringify(PROVIDERS_WINDOW));
  return Buffer.concat([bytes.subarray(0, valueStart), window, bytes.subarray(valueEnd)]);
}
