import { beforeAll, describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { readAllPages } from "#test/support/pages.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

type Operation = {
  summary?: string;
  tags?: string[];
  operationId?: string;
  security?: Record<string, string[]>[];
  requestBody?: { content: Record<string, { example?: object }> };
  responses?: Record<string, { content?: Record<string, { schema: object }> }>;
  parameters?: { name: string; in: string; required?: boolean }[];
};
type Document = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, unknown>>;
};

let gateway: WiredGateway;
let document: Document;
let operations: { name: string; method: string; path: string; operation: Operation }[];

beforeAll(async () => {
  const nowhere = "http://127.0.0.1:9";
  gateway = await wiredGateway({ chat: nowhere, messages: nowhere });
  document = await (await fetch(`${gateway.url}/openapi/json`)).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method,
      path,
      operation,
    })),
  );
});

const SECRET = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
const PRIVATE = { allow_private_network: true };
const alertTo = (to: object) => ({ on: ["threshold"], to: { ...to, ...PRIVATE } });

/** What answers whoever asks. */
const OPEN = [
  ...[
    "/healthz",
    "/readyz",
    "/v1/reports/schema.json",
    "/v1/reports/query-schema.json",
    "/openapi",
    "/openapi/json",
    "/sign-in",
  ],
  ...["/auth/ways-in", "/.well-known/oauth-authorization-server", "/oauth/device_authorization"],
];
/** Where a browser is sent on. */
const LEAVES = ["/auth/sign-in/oidc", "/auth/sign-in/github", "/auth/sign-in/saml"];
/** What takes its credential in the body. */
const IN_BODY = ["/auth/sign-in/link", "/oauth/token", "/oauth/revoke"];
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

describe("the OpenAPI document", () => {
  test("is one of version 3 and names the product in the version of its package", async () => {
    const { version } = await Bun.file("package.json").json();
    expect(document.openapi).toMatch(/^3\.\d\.\d$/);
    expect(document.info).toMatchObject({ title: "Tallygate", version });
  });

  test("has the methods and path parameters that the standard allows", () => {
    expect(operations.length).toBeGreaterThan(10);
    expect(operations.filter(({ method }) => !METHODS.includes(method))).toEqual([]);
    for (const { name, path, operation } of operations) {
      expect([name, path.startsWith("/")]).toEqual([name, true]);
      const written = [...path.matchAll(/\{([^}]+)\}/g)].map(([, parameter]) => parameter ?? "").sort();
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect([name, declared.map((parameter) => parameter.name).sort()]).toEqual([name, written]);
      expect(declared.filter(({ required }) => required !== true)).toEqual([]);
    }
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("says of every operation what it does and where it belongs", () => {
    expect(operations.filter(({ operation }) => !operation.summary || !operation.tags?.length)).toEqual([]);
  });

  test("says of every operation which key it needs, what body it takes and how it ends", () => {
    const open = operations.filter(({ path, operation }) => !OPEN.includes(path) && !operation.security);
    expect(open.map(({ name }) => name)).toEqual([]);
    // What these ask for is in their address.
    const bodiless = /\/(cancel|rotate|accept|setup-links|webhook-secret|test|refresh|dismiss|fetch|run)$/;
    const takes = operations.filter(
      ({ method, path }) => /post|put|patch/.test(method) && !bodiless.test(path),
    );
    expect(takes.filter(({ operation }) => !operation.requestBody).map(({ name }) => name)).toEqual([]);
    expect(operations.filter(({ operation }) => !operation.responses).map(({ name }) => name)).toEqual([]);
  });

  test("tells of calls of models the labels' headers, and bodies that the built-in provider answers", async () => {
    const calls = operations.filter(({ path, operation }) => {
      const labelled = operation.parameters?.some(({ name }) => name === "x-session-id");
      return labelled && !/images\/edits|moderations/.test(path);
    });
    const answers = calls.map(async ({ name, path, operation }) => {
      const { example } = operation.requestBody?.content["application/json"] ?? {};
      if (example === undefined) return [name, "a form"];
      const headers = { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" };
      const answer = await fetch(gateway.url + path.replace("{model}", "echo"), {
        method: "POST",
        headers,
        body: JSON.stringify(example),
      });
      await answer.arrayBuffer();
      return [name, answer.status];
    });
    const told = await Promise.all(answers);
    expect(told.filter(([, how]) => how === 200).length).toBeGreaterThan(10);
    expect(told.filter(([, how]) => how !== 200 && how !== "a form")).toEqual([]);
  });

  test("has everything that it refers to", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target ?? "",
    );
    const missing = references.filter((target) => {
      const [root, ...path] = target.split("/");
      const found = path.reduce<unknown>(
        (at, step) => (at as Record<string, unknown> | undefined)?.[step],
        document,
      );
      return root !== "#" || found === undefined;
    });
    expect(missing).toEqual([]);
    const schemes = Object.keys(document.components?.["securitySchemes"] ?? {});
    const named = operations.flatMap(({ operation }) => (operation.security ?? []).flatMap(Object.keys));
    expect(named.filter((scheme) => !schemes.includes(scheme))).toEqual([]);
  });

  test.each([
    ["/providers/{name}", { kind: "openai", credential: SECRET, headers: { "x-secret": SECRET } }],
    ["/providers/{name}", { kind: "openai", credentials: [SECRET, `${SECRET}2`] }],
    ["/mcp-servers/{name}", { url: "http://127.0.0.1:9/mcp", credential: SECRET, ...PRIVATE }],
    ["/vendor-accounts/{name}", { vendor: "anthropic", credential: SECRET }],
    ["/alerts/{name}", alertTo({ kind: "webhook", url: "http://127.0.0.1:9/hook", secret: SECRET })],
    ["/alerts/{name}", alertTo({ kind: "slack", url: "http://127.0.0.1:9/a" })],
    [
      "/alerts/{name}",
      alertTo({
        kind: "email",
        url: `smtp://u:${SECRET}@127.0.0.1:9`,
        addresses: ["a@b.example"],
        from: "c@b.example",
      }),
    ],
    [
      "/export/destination",
      {
        ...{ endpoint: "http://127.0.0.1:9", bucket: "costs", access_key_id: "AKIA" },
        ...{ secret_access_key: SECRET, ...PRIVATE },
      },
    ],
    ["/digest/webhook", { url: "http://127.0.0.1:9/digest", ...PRIVATE }],
  ])("%s: the schemas fit the answers after a secret was stored", async (path, body) => {
    const operation = document.paths[`/admin/v1${path}`];
    const list = path.replace("/{name}", "");
    const asked = [
      [operation?.["put"], ["PUT", path.replace("{name}", "hidden"), body]],
      [operation?.["get"], ["GET", path.replace("{name}", "hidden")]],
      [document.paths[`/admin/v1${list}`]?.["get"], ["GET", list]],
    ] as const;
    for (const [described, [method, address, sent]] of asked) {
      if (!described) continue;
      const answer = await gateway.admin<object>(method, address, sent);
      if (list !== "/digest/webhook") expect(JSON.stringify(answer)).not.toContain(SECRET);
      const { content } = described.responses?.["200"] ?? described.responses?.["201"] ?? {};
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.validate(content?.["application/json"]?.schema ?? false, answer);
      expect([method, address, ajv.errors]).toEqual([method, address, null]);
    }
  });

  test("has every address that the pages tell, and they tell every address", async () => {
    const pages = await readAllPages();
    const told = [...pages.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^\s`?]+)/g)];
    expect(told.length).toBeGreaterThan(10);
    const documented = (path = "", method = "") => document.paths[path]?.[method.toLowerCase()] !== undefined;
    expect(told.filter(([, method, path]) => !documented(path, method)).map(([written]) => written)).toEqual(
      [],
    );
    expect(Object.keys(document.paths).filter((path) => !pages.includes(path))).toEqual([]);
  });

  test("names only addresses that answer, and what needs a key answers 401 without one", async () => {
    for (const { name, method, path } of operations) {
      const address = gateway.url + path.replaceAll(/\{[^}]+\}/g, "x");
      const answer = await fetch(address, { method, redirect: "manual" });
      await answer.body?.cancel();
      const expected = OPEN.includes(path)
        ? 200
        : LEAVES.includes(path)
          ? 303
          : IN_BODY.includes(path)
            ? 400
            : 401;
      expect([name, answer.status]).toEqual([name, expected]);
    }
  });
});

describe("the page of it", () => {
  test.each(["/openapi", "/openapi/"])("%s loads all that it shows from the gateway itself", async (path) => {
    const page = await fetch(`${gateway.url}${path}`);
    const text = await page.text();
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self';");
    expect(policy + text).not.toMatch(/https?:|unsafe-eval|\/\//);
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = ""]) => file);
    expect(files.length).toBe(4);
    for (const file of files) {
      const answer = await fetch(new URL(file, page.url));
      expect([file, answer.status, answer.headers.get("x-content-type-options")]).toEqual([
        file,
        200,
        "nosniff",
      ]);
      expect((await answer.text()).length).toBeGreaterThan(100);
    }
  });
});
