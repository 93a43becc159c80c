import type { TSchema } from "@sinclair/typebox";
import type { Transaction } from "#drizzle/database.ts";
import type { AuditAction, AuditedState } from "#drizzle/schema/audit.ts";
import { type NamedBody, type Page, pageOf, putOf } from "#shared/admin/fields.ts";
import { GatewayError, orNotFound } from "../errors.ts";
import { readJson } from "../plugins/body.ts";
import type { AuditEntry, Origin } from "../stores/audit.ts";
import type { Reader } from "../stores/change.ts";
import type { Slice } from "../stores/slice.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute, created, LIST_QUERY, noContent, type RouteDocs } from "./documented.ts";
import { pageFrom, readListQuery, requireSameName } from "./list.ts";

type Named = { name: string; createdAt: string };
type SchemaOf<T> = TSchema & { static: T };
type Words = Pick<RouteDocs, "summary" | "description">;
type Step = "list" | "create" | "read" | "put" | "patch" | "remove";

/** A resource with its name in its address; the six routes are the same for all of them. */
export type ResourceFacts<Row extends Named, Body extends { name: string }, Patch, View> = {
  /** Path below `/admin/v1`. */
  path: string;
  /** Its list has more than its rows, and is elsewhere. */
  hasOwnList?: true;
  /** Heading in the documentation. */
  tag: string;
  /** Singular and plural for the documentation, such as `a route` and `routes`. */
  nouns: { one: string; many: string };
  /** Replaces the standard wording of the documentation. */
  words?: Partial<Record<Step, Partial<Words>>>;
  schemas: {
    body: SchemaOf<Body> & NamedBody;
    patch: SchemaOf<Patch>;
    view: SchemaOf<View>;
  };
  store: {
    list(reader: Reader, slice: Slice): Promise<Row[]>;
    find(reader: Reader, name: string): Promise<Row | null>;
    write(tx: Transaction, row: Row): Promise<void>;
    /** The row that is gone; null if there was none. @throws GatewayError conflict while it is referenced. */
    remove(tx: Transaction, name: string): Promise<Row | null>;
  };
  audit: {
    set: AuditAction;
    deleted: AuditAction;
    /** Further audit actions of an edit. Null: the row does not exist before, or after. */
    also?(before: Row | null, after: Row | null): AuditAction[];
    /** Members that the view omits: the last four characters of credentials. */
    secrets?(row: Row, deps: AdminDeps): AuditedState;
  };
  /** The row for POST and PUT; `current` is the one to be replaced. */
  made(edit: Edit<Row | null, Omit<Body, "name">>, deps: AdminDeps): Row;
  /** The row with PATCH's members applied. */
  patched(edit: Edit<Row, Patch>, deps: AdminDeps): Row;
  /** Refuses what the body alone shows to be invalid, before any lookup. @throws GatewayError invalid_request */
  checkBody?(body: Omit<Body, "name"> | Patch, deps: AdminDeps): Promise<void>;
  /** Refuses a row that may not be saved. @throws GatewayError invalid_request */
  checkRow?(row: Row, deps: AdminDeps): Promise<void>;
  view(row: Row, deps: AdminDeps): View;
  /** What is done after a row is saved, before the answer. */
  saved?(): Promise<void>;
};

type Edit<Current, Body> = { name: string; current: Current; body: Body; now: Date };

/** The six routes of a resource: list, create, read, put, patch, delete. */
export function namedResource<Row extends Named, Body extends { name: string }, Patch, View>(
  deps: AdminDeps,
  it: ResourceFacts<Row, Body, Patch, View>,
) {
  const docs = docsOf(it);
  const { list, create, readOne, put, patch, remove } = stepsOf(deps, it);
  const part = adminPart(deps, it.path);
  if (!it.hasOwnList) part.get("", ({ request }) => list(request), docs.list);
  return part
    .post("", ({ request, origin }) => create(request, origin), docs.create)
    .get("/:name", ({ params }) => readOne(params.name), docs.read)
    .put("/:name", ({ request, params, origin }) => put(params.name, request, origin), docs.put)
    .patch("/:name", ({ request, params, origin }) => patch(params.name, request, origin), docs.patch)
    .delete("/:name", ({ params, origin }) => remove(params.name, origin), docs.remove);
}

type PutOf<Body> = SchemaOf<Omit<Body, "name"> & { name?: string }>;

function stepsOf<Row extends Named, Body extends { name: string }, Patch, View>(
  deps: AdminDeps,
  it: ResourceFacts<Row, Body, Patch, View>,
) {
  const { store, saved: after } = it;
  const schemas = { ...it.schemas, put: putOf(it.schemas.body) as PutOf<Body> };
  const view = (row: Row): View => it.view(row, deps);

  const entries = auditEntriesOf(deps, it);
  const save = async (name: string, origin: Origin, next: (current: Row | null, now: Date) => Row) => {
    const saved = await saveChange(deps, origin, async (tx, audit) => {
      const current = await store.find(tx, name);
      const row = next(current, deps.clock.now());
      await it.checkRow?.(row, deps);
      await store.write(tx, row);
      for (const entry of entries(name, current, row)) await audit(entry);
      return { row, isNew: !current };
    });
    return after ? after().then(() => saved) : saved;
  };

  return {
    async list(request: Request): Promise<Page<View>> {
      const { limit, after } = readListQuery(request, []);
      const rows = await readDatabase(deps, (db) => store.list(db, { after, limit: limit + 1 }));
      return pageFrom(rows, limit, { view, cursor: (row) => row.name });
    },

    async create(request: Request, origin: Origin): Promise<Response> {
      const body = await readJson(deps, request, schemas.body);
      await it.checkBody?.(body, deps);
      const { row } = await save(body.name, origin, (current, now) => {
        if (current) throw new GatewayError("conflict");
        return it.made({ name: body.name, current, body, now }, deps);
      });
      return created(view(row));
    },

    async readOne(name: string): Promise<View> {
      const row = orNotFound(await readDatabase(deps, (db) => store.find(db, name)));
      return view(row);
    },

    async put(name: string, request: Request, origin: Origin): Promise<Response | View> {
      const body = await readJson(deps, request, schemas.put);
      requireSameName(name, body.name, schemas.body.properties.name);
      await it.checkBody?.(body, deps);
      const { row, isNew } = await save(name, origin, (current, now) => {
        const made = it.made({ name, current, body, now }, deps);
        return { ...made, createdAt: current?.createdAt ?? made.createdAt };
      });
      return isNew ? created(view(row)) : view(row);
    },

    async patch(name: string, request: Request, origin: Origin): Promise<View> {
      const body = await readJson(deps, request, schemas.patch);
      await it.checkBody?.(body, deps);
      const { row } = await save(name, origin, (current, now) => {
        if (!current) throw new GatewayError("not_found");
        return it.patched({ name, current, body, now }, deps);
      });
      return view(row);
    },

    async remove(name: string, origin: Origin): Promise<Response> {
      await saveChange(deps, origin, async (tx, audit) => {
        const gone = orNotFound(await store.remove(tx, name));
        for (const entry of entries(name, gone, null)) await audit(entry);
      });
      return noContent();
    },
  };
}

/** An edit's additions to the audit log. */
const auditEntriesOf =
  <Row extends Named, Body extends { name: string }, Patch, View>(
    deps: AdminDeps,
    { audit, view }: ResourceFacts<Row, Body, Patch, View>,
  ) =>
  (subject: string, before: Row | null, after: Row | null): AuditEntry[] => {
    const shown = (row: Row): AuditedState => ({ ...view(row, deps), ...audit.secrets?.(row, deps) });
    const states = { ...(before && { before: shown(before) }), ...(after && { after: shown(after) }) };
    const actions = [after ? audit.set : audit.deleted, ...(audit.also?.(before, after) ?? [])];
    return actions.map((action) => ({ action, subject, ...states }));
  };

function docsOf<Row extends Named, Body extends { name: string }, Patch, View>({
  tag,
  nouns: { one, many },
  words = {},
  schemas: { body, patch, view },
}: ResourceFacts<Row, Body, Patch, View>) {
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
      body: putOf(body),
      answers: { 200: view, 201: view },
    }),
    patch: docs({ summary: `Change ${one}`, ...words.patch, body: patch, answers: { 200: view } }),
    remove: docs({ summary: `Delete ${one}`, ...words.remove, answers: { 204: null } }),
  };
}
