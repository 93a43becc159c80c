import type { TSchema } from "@sinclair/typebox";
import type { Transaction } from "#drizzle/database.ts";
import type { AuditedState } from "#drizzle/schema/audit.ts";
import { pageOf } from "#shared/admin/fields.ts";
import { orNotFound } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { Reader } from "../stores/change.ts";
import { requireProvider } from "../stores/prices.ts";
import type { Slice } from "../stores/slice.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent, type RouteDocs } from "./documented.ts";
import { idParameter, pageById } from "./list.ts";

type SchemaOf<T> = TSchema & { static: T };

type Documented = {
  /** Singular, as the audit log has it; its plural is the path below `/admin/v1`. */
  noun: "price" | "discount" | "seat" | "commitment";
  /** Heading in the documentation; absent: prices. */
  tag?: string;
  /** Added to the documentation of entering one. */
  words?: Pick<RouteDocs, "description">;
  schemas: Record<"body" | "patch" | "view", TSchema>;
};

/** What calls cost from a time on: rows with an id in their address, each of a provider or of all. */
type Terms<Row extends Fields & { id: string }, Fields, Body, Patch, View> = Documented & {
  schemas: { body: SchemaOf<Body>; patch: SchemaOf<Patch>; view: SchemaOf<View> };
  store: {
    list(reader: Reader, slice: Slice): Promise<Row[]>;
    find(reader: Reader, id: string): Promise<Row | null>;
    insert(tx: Transaction, fields: Fields, now: Date): Promise<string>;
    update(tx: Transaction, id: string, fields: Fields): Promise<void>;
    remove(tx: Transaction, id: string): Promise<Row | null>;
  };
  /** The row with what the body gives; null: a new one. @throws GatewayError */
  patched(current: Fields | null, body: Body | Patch): Fields;
  view(row: Row): View;
};

/** The five routes of prices, discounts, seats or commitments: list, create, read, patch, delete. */
export function adminTerms<
  Row extends Fields & { id: string },
  Fields extends object,
  Body,
  Patch,
  View extends AuditedState,
>(deps: AdminDeps, it: Terms<Row, Fields, Body, Patch, View>) {
  const { noun, store, schemas, view } = it;
  const docs = docsOf(it);
  const path: string = `${noun}s`;
  const existing = existingBy(store.find);
  return adminPart(deps, path)
    .get("", ({ request }) => pageById(deps, request, { list: store.list, view }), docs.list)
    .post(
      "",
      async ({ request, origin }) => {
        const fields = it.patched(null, await readJson(deps, request, schemas.body));
        const made = await saveChange(deps, origin, async (tx, audit) => {
          await requireProvider(tx, providerIn(fields));
          const id = await store.insert(tx, fields, deps.clock.now());
          const after = view(await existing(tx, id));
          await audit({ action: `${noun}.created`, subject: id, after });
          return after;
        });
        return created(made);
      },
      docs.create,
    )
    .get(
      "/:id",
      async ({ params }) => view(await readDatabase(deps, (db) => existing(db, params.id))),
      docs.read,
    )
    .patch(
      "/:id",
      async ({ request, params: { id }, origin }) => {
        const body = await readJson(deps, request, schemas.patch);
        return saveChange(deps, origin, async (tx, audit) => {
          const current = await existing(tx, id);
          const fields = it.patched(current, body);
          await requireProvider(tx, providerIn(fields));
          await store.update(tx, id, fields);
          const after = view(await existing(tx, id));
          await audit({ action: `${noun}.changed`, subject: id, before: view(current), after });
          return after;
        });
      },
      docs.patch,
    )
    .delete(
      "/:id",
      async ({ params, origin }) => {
        await saveChange(deps, origin, async (tx, audit) => {
          const gone = await existing(tx, params.id);
          await store.remove(tx, gone.id);
          await audit({ action: `${noun}.deleted`, subject: gone.id, before: view(gone) });
        });
        return noContent();
      },
      docs.remove,
    );
}

/** The provider that must exist; null: none is named. */
const providerIn = (fields: object): string | null =>
  "provider" in fields && typeof fields.provider === "string" ? fields.provider : null;

const existingBy =
  <Row>(find: (reader: Reader, id: string) => Promise<Row | null>) =>
  async (reader: Reader, id: string): Promise<Row> => {
    return orNotFound(await find(reader, idParameter(id)));
  };

function docsOf({ noun, tag, words, schemas: { body, patch, view } }: Documented) {
  const docs = adminRoute(tag ?? "prices");
  return {
    list: docs({ summary: `List ${noun}s, newest first`, query: LIST_QUERY, answers: { 200: pageOf(view) } }),
    create: docs({ summary: `Enter a ${noun}`, ...words, body, answers: { 201: view } }),
    read: docs({ summary: `Read a ${noun}`, answers: { 200: view } }),
    patch: docs({
      summary: `Change a ${noun}`,
      ...(!tag && {
        description: "Applies to future calls: records keep the prices that they were priced with.",
      }),
      body: patch,
      answers: { 200: view },
    }),
    remove: docs({ summary: `Delete a ${noun}`, answers: { 204: null } }),
  };
}
