import { type Page, pageOf, readDecimal, readInstant } from "#shared/admin/fields.ts";
import {
  PriceBody,
  PricePatch,
  type PriceView,
  RepriceBody,
  RepriceJobView,
  RepriceView,
  UnpricedModels,
  PriceView as View,
} from "#shared/admin/prices.ts";
import { PricesInForce } from "#shared/admin/prices-in-force.ts";
import { GatewayError } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import { STANDARD } from "../pricing/tier.ts";
import { findJob, listJobs } from "../repricing/reprice-jobs.ts";
import type { Origin } from "../stores/audit.ts";
import type { Reader } from "../stores/change.ts";
import {
  deletePrice,
  findPrice,
  insertPrice,
  listPrices,
  type PriceFields,
  type PriceOverrideRow,
  updatePrice,
} from "../stores/prices.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor, idParameter } from "./parameters.ts";
import { pricesInForce } from "./prices-in-force.ts";
import { cancelReprice, jobView, reprice } from "./reprice.ts";
import { unpricedModels } from "./unpriced-models.ts";
import { viewAs } from "./view-as.ts";

/** `/admin/v1/prices`: prices that win over the built-in list. */
export const adminPrices = (deps: AdminDeps) =>
  adminPart(deps, "prices")
    .get("", ({ request }) => list(deps, request), { ...LIST })
    .post("", ({ request, origin }) => create(deps, origin, request), { ...CREATE })
    .get("/reprice", ({ request }) => jobs(deps, request), { ...JOBS })
    .get("/reprice/:id", ({ params }) => readJob(deps, params.id), { ...JOB })
    .post("/reprice/:id/cancel", ({ params, origin }) => cancelReprice(deps, origin, params.id), {
      ...CANCEL,
    })
    .get("/unpriced", () => unpricedModels(deps), { ...UNPRICED_MODELS })
    .get("/in-force", ({ request }) => pricesInForce(deps, request), { ...IN_FORCE })
    .get("/:id", async ({ params }) => viewOf(await readDatabase(deps, (db) => existing(db, params.id))), {
      ...READ,
    })
    .patch("/:id", ({ request, params, origin }) => patch(deps, origin, { id: params.id, request }), {
      ...PATCH,
    })
    .delete("/:id", ({ params, origin }) => remove(deps, origin, params.id), { ...DELETE })
    .post(
      "/reprice",
      async ({ request, origin }) => reprice(deps, origin, await readJson(deps, request, RepriceBody)),
      {
        ...REPRICE,
      },
    );

const docs = adminRoute("prices");
const LIST = docs({
  summary: "List prices, newest first",
  query: LIST_QUERY,
  answers: { 200: pageOf(View) },
});
const CREATE = docs({ summary: "Enter a price", body: PriceBody, answers: { 201: View } });
const READ = docs({ summary: "Read a price", answers: { 200: View } });
const PATCH = docs({
  summary: "Change a price",
  description: "Applies to future calls: records keep the prices that they were priced with.",
  body: PricePatch,
  answers: { 200: View },
});
const DELETE = docs({ summary: "Delete a price", answers: { 204: null } });
const REPRICE = docs({
  summary: "Price unpriced records",
  description:
    "Uses their stored counts and the prices in force at the time of the call. Priced records keep their price. More than 5,000 records are a job: 202, with its address in `location`.",
  body: RepriceBody,
  answers: { 200: RepriceView, 202: RepriceJobView },
});
const JOBS = docs({
  summary: "List jobs of repricing, newest first",
  query: LIST_QUERY,
  answers: { 200: pageOf(RepriceJobView) },
});
const JOB = docs({ summary: "Read how far a job of repricing is", answers: { 200: RepriceJobView } });
const CANCEL = docs({
  summary: "Cancel a job of repricing",
  description: "What it has priced stays priced. Both sums are in the audit log. 422 if it is finished.",
  answers: { 200: RepriceJobView },
});
const UNPRICED_MODELS = docs({
  summary: "List models without a price, and how to give them one",
  description: "Of the last 7 days, those with the most calls first.",
  answers: { 200: UnpricedModels },
});

const IN_FORCE = docs({
  summary: "List the prices in force on a day",
  description:
    "Standard prices of models that were called in the last 30 days, are targets of routes, or have a price of your own for their provider.",
  query: { on: "A date: prices at its end (UTC). Default: now." },
  answers: { 200: PricesInForce },
});

async function list(deps: AdminDeps, request: Request): Promise<Page<PriceView>> {
  const { limit, after } = readListQuery(request, []);
  const slice = { after: after && idCursor(after), limit: limit + 1 };
  const rows = await readDatabase(deps, (db) => listPrices(db, slice));
  return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.id });
}

async function jobs(deps: AdminDeps, request: Request): Promise<Page<RepriceJobView>> {
  const { limit, after } = readListQuery(request, []);
  const slice = { after: after && idCursor(after), limit: limit + 1 };
  const rows = await readDatabase(deps, (db) => listJobs(db, slice));
  return pageFrom(rows, limit, { view: jobView, cursor: (row) => row.id });
}

async function readJob(deps: AdminDeps, id: string): Promise<RepriceJobView> {
  const job = await readDatabase(deps, (db) => findJob(db, idParameter(id)));
  if (!job) throw new GatewayError("not_found");
  return jobView(job);
}

async function create(deps: AdminDeps, origin: Origin, request: Request): Promise<Response> {
  const body = await readJson(deps, request, PriceBody);
  const made = await saveChange(deps, origin, async (tx, audit) => {
    const id = await insertPrice(tx, newPrice(body), deps.clock.now());
    const after = viewOf(await existing(tx, id));
    await audit({ action: "price.created", subject: id, after });
    return after;
  });
  return created(made);
}

async function patch(
  deps: AdminDeps,
  origin: Origin,
  { id, request }: { id: string; request: Request },
): Promise<PriceView> {
  const body = await readJson(deps, request, PricePatch);
  return saveChange(deps, origin, async (tx, audit) => {
    const current = await existing(tx, id);
    await updatePrice(tx, id, patchedPrice(current, body));
    const after = viewOf(await existing(tx, id));
    await audit({ action: "price.changed", subject: id, before: viewOf(current), after });
    return after;
  });
}

async function remove(deps: AdminDeps, origin: Origin, id: string): Promise<Response> {
  await saveChange(deps, origin, async (tx, audit) => {
    const before = viewOf(await existing(tx, id));
    await deletePrice(tx, id);
    await audit({ action: "price.deleted", subject: id, before });
  });
  return noContent();
}

async function existing(reader: Reader, id: string): Promise<PriceOverrideRow> {
  const row = await findPrice(reader, idParameter(id));
  if (!row) throw new GatewayError("not_found");
  return row;
}

const newPrice = (body: PriceBody): PriceFields =>
  patchedPrice(
    {
      provider: null,
      model: body.model,
      effectiveFrom: "",
      tier: STANDARD,
      multiplier: null,
      input: null,
      output: null,
      cachedInput: null,
      cacheWrite5m: null,
      cacheWrite1h: null,
      perImage: null,
      perCharacter: null,
      perCall: null,
    },
    body,
  );

/**
 * The price with what the body gives: an absent amount stays, null takes one away.
 * @throws GatewayError unless it then has amounts, or a multiplier alone
 */
function patchedPrice(current: PriceFields, body: PricePatch): PriceFields {
  const amount = (given: string | number | null | undefined, present: string | null) =>
    given === undefined ? present : readDecimal(given);
  const effectiveFromMs = readInstant(body.effective_from ?? "");
  const amounts = {
    input: amount(body.input, current.input),
    output: amount(body.output, current.output),
    cachedInput: amount(body.cached_input, current.cachedInput),
    cacheWrite5m: amount(body.cache_write_5m, current.cacheWrite5m),
    cacheWrite1h: amount(body.cache_write_1h, current.cacheWrite1h),
    perImage: amount(body.per_image, current.perImage),
    perCharacter: amount(body.per_character, current.perCharacter),
    perCall: amount(body.per_call, current.perCall),
  };
  const price = {
    provider: body.provider === undefined ? current.provider : body.provider,
    model: body.model ?? current.model,
    effectiveFrom: effectiveFromMs === null ? current.effectiveFrom : new Date(effectiveFromMs).toISOString(),
    tier: body.tier ?? current.tier,
    multiplier: amount(body.multiplier, current.multiplier),
    ...amounts,
  };
  const fault = faultIn(price, Object.values(amounts));
  if (fault) throw new GatewayError("invalid_request", fault);
  return price;
}

function faultIn({ multiplier }: PriceFields, amounts: (string | null)[]): string | null {
  const named = amounts.some((amount) => amount !== null);
  if (multiplier !== null && named) return "/multiplier: Expected a multiplier or amounts, not both.";
  return multiplier === null && !named ? "/input: Expected an amount such as input, or a multiplier." : null;
}

const viewOf = (row: PriceOverrideRow): PriceView => viewAs(View, row);
