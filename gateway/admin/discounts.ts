import { DiscountBody, DiscountPatch, DiscountView } from "#shared/admin/discounts.ts";
import { pageOf, readDecimal, readInstant } from "#shared/admin/fields.ts";
import { GatewayError } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import type { Reader } from "../stores/change.ts";
import {
  type DiscountFields,
  type DiscountRow,
  deleteDiscount,
  findDiscount,
  insertDiscount,
  listDiscounts,
  updateDiscount,
} from "../stores/discounts.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { idCursor, idParameter } from "./parameters.ts";
import { viewAs } from "./view-as.ts";

const docs = adminRoute("prices");

/** `/admin/v1/discounts`: what contracts take off the list prices of a provider. */
export const adminDiscounts = (deps: AdminDeps) =>
  adminPart(deps, "discounts")
    .get(
      "",
      async ({ request }) => {
        const { limit, after } = readListQuery(request, []);
        const slice = { after: after && idCursor(after), limit: limit + 1 };
        const rows = await readDatabase(deps, (db) => listDiscounts(db, slice));
        return pageFrom(rows, limit, { view: viewOf, cursor: (row) => row.id });
      },
      docs({
        summary: "List discounts, newest first",
        query: LIST_QUERY,
        answers: { 200: pageOf(DiscountView) },
      }),
    )
    .post(
      "",
      async ({ request, origin }) =>
        created(await enter(deps, origin, await readJson(deps, request, DiscountBody))),
      docs({
        summary: "Enter a discount",
        description:
          "Of several for a call, one that names models wins, then the latest. A price of your own has no discount. Fees of searches are not discounted.",
        body: DiscountBody,
        answers: { 201: DiscountView },
      }),
    )
    .get("/:id", async ({ params }) => viewOf(await readDatabase(deps, (db) => existing(db, params.id))), {
      ...docs({ summary: "Read a discount", answers: { 200: DiscountView } }),
    })
    .patch(
      "/:id",
      async ({ request, params, origin }) =>
        change(deps, origin, { id: params.id, body: await readJson(deps, request, DiscountPatch) }),
      docs({
        summary: "Change a discount",
        description: "Applies to future calls: records keep the prices that they were priced with.",
        body: DiscountPatch,
        answers: { 200: DiscountView },
      }),
    )
    .delete(
      "/:id",
      async ({ params, origin }) => {
        await saveChange(deps, origin, async (tx, audit) => {
          const current = await existing(tx, params.id);
          await deleteDiscount(tx, current.id);
          await audit({ action: "discount.deleted", subject: current.id, before: viewOf(current) });
        });
        return noContent();
      },
      docs({ summary: "Delete a discount", answers: { 204: null } }),
    );

const enter = (deps: AdminDeps, origin: Origin, body: DiscountBody): Promise<DiscountView> =>
  saveChange(deps, origin, async (tx, audit) => {
    const id = await insertDiscount(tx, patched(NEW, body), deps.clock.now());
    const after = viewOf(await existing(tx, id));
    await audit({ action: "discount.created", subject: id, after });
    return after;
  });

const change = (
  deps: AdminDeps,
  origin: Origin,
  { id, body }: { id: string; body: DiscountPatch },
): Promise<DiscountView> =>
  saveChange(deps, origin, async (tx, audit) => {
    const current = await existing(tx, id);
    await updateDiscount(tx, current.id, patched(current, body));
    const after = viewOf(await existing(tx, current.id));
    await audit({ action: "discount.changed", subject: current.id, before: viewOf(current), after });
    return after;
  });

async function existing(reader: Reader, id: string): Promise<DiscountRow> {
  const row = await findDiscount(reader, idParameter(id));
  if (!row) throw new GatewayError("not_found");
  return row;
}

const NEW: DiscountFields = {
  provider: "",
  percent: "",
  effectiveFrom: "",
  effectiveTo: null,
  models: null,
  tiers: null,
};

/** The discount with what the body gives. @throws GatewayError if it would end before it begins. */
function patched(current: DiscountFields, body: DiscountPatch): DiscountFields {
  const { effective_from: from, effective_to: to, percent } = body;
  const given = <T>(value: T | undefined, present: T): T => (value === undefined ? present : value);
  const it = {
    provider: given(body.provider, current.provider),
    percent: percent === undefined ? current.percent : (readDecimal(percent) ?? current.percent),
    effectiveFrom: from === undefined ? current.effectiveFrom : stored(from),
    effectiveTo: to === undefined ? current.effectiveTo : to && stored(to),
    models: given(body.models, current.models),
    tiers: given(body.tiers, current.tiers),
  };
  if (it.effectiveTo !== null && it.effectiveTo <= it.effectiveFrom) {
    throw new GatewayError("invalid_request", "/effective_to: Expected a time after effective_from.");
  }
  return it;
}

const stored = (instant: string): string => new Date(readInstant(instant) ?? 0).toISOString();

const viewOf = (row: DiscountRow): DiscountView => viewAs(DiscountView, row);
