import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type Page, pageOf } from "#shared/admin/fields.ts";
import { GatewayError } from "../errors.ts";
import { adminKey } from "../plugins/admin-key.ts";
import type { Reader, Transaction } from "../stores/change.ts";
import type { Slice } from "../stores/slice.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent, type RouteDocs } from "./documented.ts";
import { pageFrom, readListQuery } from "./list.ts";
import { requireSameName } from "./parameters.ts";

type Named = { name: string; createdAt: string };
type SchemaOf<T> = TSchema & { static: T };
type Words = Pick<RouteDocs, "summary" | "description">;
type Step = "list" | "create" | "read" | "put" | "patch" | "remove";

/** A resource with its name in its address; the six routes are the same for all of them. */
export type ResourceFacts<Row extends Named, Put extends { name?: string }, Patch, View> = {
  /** Path below `/admin/v1`. */
  path: string;
  /** Heading in the documentation. */
  tag: string;
  /** Singular and plural for the documentation, such as `a route` and `routes`. */
  nouns: { one: string; many: string };
  /** Replaces the standard wording of the documentation. */
  words?: Partial<Record<Step, Partial<Words>>>;
  schemas: {
    name: TSchema;
    body: SchemaOf<NoInfer<Put> & { name: string }>;
    put: SchemaOf<Put>;
    patch: SchemaOf<Patch>;
    view: SchemaOf<View>;
  };
  store: {
    list(reader: Reader, slice: Slice): Promise<Row[]>;
    find(reader: Reader, name: string): Promise<Row | null>;
    write(tx: Transaction, row: Row): Promise<void>;
    /** False if there was none. @throws GatewayError conflict while it is referenced. */
    remove(tx: Transaction, name: string, now: Date): Promise<boolean>;
  };
  /** The row for POST and PUT; `current` is the one to be replaced. */
  made(edit: Edit<Row | null, Put>, deps: AdminDeps): Row;
  /** The row with PATCH's members applied. */
  patched(edit: Edit<Row, Patch>, deps: AdminDeps): Row;
  /** Refuses what the body alone shows to be invalid, before any lookup. @throws GatewayError invalid_request */
  checkBody?(body: Put | Patch, deps: AdminDeps): Promise<void>;
  /** Refuses a row that may not be saved. @throws GatewayError invalid_request */
  checkRow?(row: Row, deps: AdminDeps): Promise<void>;
  view(row: Row, deps: AdminDeps): View;
};

type Edit<Current, Body> = { name: string; current: Current; body: Body; now: Date };

/** The six routes of a resource: list, create, read, put, patch, delete. */
export function namedResource<Row extends Named, Put extends { name?: string }, Patch, View>(
  deps: AdminDeps,
  it: ResourceFacts<Row, Put, Patch, View>,
) {
  const docs = docsOf(it);
  const { list, create, readOne, put, patch, remove } = stepsOf(deps, it);
  return new Elysia({ name: `admin.${it.path}`, prefix: `/${it.path}` })
    .use(adminKey(deps.isAdmin))
    .get("", ({ request }) => list(request), docs.list)
    .post("", ({ request }) => create(request), docs.create)
    .get("/:name", ({ params }) => readOne(params.name), docs.read)
    .put("/:name", ({ request, params }) => put(params.name, request), docs.put)
    .patch("/:name", ({ request, params }) => patch(params.name, request), docs.patch)
    .delete("/:name", ({ params }) => remove(params.name), docs.remove);
}

function stepsOf<Row extends Named, Put extends { name?: string }, Patch, View>(
  deps: AdminDeps,
  it: ResourceFacts<Row, Put, Patch, View>,
) {
  const { schemas, store } = it;
  const view = (row: Row): View => it.view(row, deps);

  const save = (name: string, next: (current: Row | null, now: Date) => Row) =>
    saveChange(deps, async (tx) => {
      const current = await store.find(tx, name);
      const row = next(current, deps.clock.now());
      await it.checkRow?.(row, deps);
      await store.write(tx, row);
      return { row, isNew: !current };
    });

  return {
    async list(request: Request): Promise<Page<View>> {
      const { limit, after } = readListQuery(request, []);
      const rows = await readDatabase(deps, (db) => store.list(db, { after, limit: limit + 1 }));
      return pageFrom(rows, limit, { view, cursor: (row) => row.name });
    },

    async create(request: Request): Promise<Response> {
      const body = await readJson(request, schemas.body);
      await it.checkBody?.(body, deps);
      const { row } = await save(body.name, (current, now) => {
        if (current) throw new GatewayError("conflict");
        return it.made({ name: body.name, current, body, now }, deps);
      });
      return created(view(row));
    },

    async readOne(name: string): Promise<View> {
      const row = await readDatabase(deps, (db) => store.find(db, name));
      if (!row) throw new GatewayError("not_found");
      return view(row);
    },

    async put(name: string, request: Request): Promise<Response | View> {
      const body = await readJson(request, schemas.put);
      requireSameName(name, body.name, schemas.name);
      await it.checkBody?.(body, deps);
      const { row, isNew } = await save(name, (current, now) => {
        const made = it.made({ name, current, body, now }, deps);
        return { ...made, createdAt: current?.createdAt ?? made.createdAt };
      });
      return isNew ? created(view(row)) : view(row);
    },

    async patch(name: string, request: Request): Promise<View> {
      const body = await readJson(request, schemas.patch);
      await it.checkBody?.(body, deps);
      const { row } = await save(name, (current, now) => {
        if (!current) throw new GatewayError("not_found");
        return it.patched({ name, current, body, now }, deps);
      });
      return view(row);
    },

    async remove(name: string): Promise<Response> {
      await saveChange(deps, async (tx) => {
        if (!(await store.remove(tx, name, deps.clock.now()))) throw new GatewayError("not_found");
      });
      return noContent();
    },
  };
}

function docsOf<Row extends Named, Put extends { name?: string }, Patch, View>({
  tag,
  nouns: { one, many },
  words = {},
  schemas: { body, put, patch, view },
}: ResourceFacts<Row, Put, Patch, View>) {
  const docs = adminRoute(tag);
  const rest = "What the body leaves out gets its default.";
  return {
    list: docs({
      summary: `List ${many}`,
      ...words.list,
      query: LIST_QUERY,
      answers: { 200: pageOf(view) },
    }),
    create: docs({ summary: `Create ${one}`, ...words.create, body, answers: { 201: view } }),
    read: docs({ summary: `Read ${one}`, ...words.read, answers: { 200: view } }),
    put: docs({
      summary: `Create or replace ${one}`,
      description: rest,
      ...words.put,
      body: put,
      answers: { 200: view, 201: view },
    }),
    patch: docs({ summary: `Change ${one}`, ...words.patch, body: patch, answers: { 200: view } }),
    remove: docs({ summary: `Delete ${one}`, ...words.remove, answers: { 204: null } }),
  };
}
