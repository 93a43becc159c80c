import { expect, test } from "bun:test";
import { openapi } from "@elysiajs/openapi";
import { Elysia } from "elysia";
import { type Json, world } from "./world.ts";

test("the documentation shows every route with its body, its parameters and its answers", async () => {
  const it = await world();
  const app = new Elysia().use(openapi({ path: "/openapi", specPath: "/openapi/json" })).use(it.admin);
  const document: Json = await (await app.handle(new Request("http://gateway.test/openapi/json"))).json();
  await it.close();

  for (const { method, path } of it.app.routes) {
    const operation =
      document.paths[path.replace(/:(\w+)/g, "{$1}").replace(/\/$/, "")]?.[method.toLowerCase()];
    expect([method, path, typeof operation?.summary]).toEqual([method, path, "string"]);
    expect(operation.security).toEqual([{ adminKey: [] }, { session: [] }]);
    expect(Object.keys(operation.responses)).toContain("401");
    // Actions such as accepting a claim are POSTs without a body.
    const hasBody = ["PUT", "PATCH"].includes(method) || (method === "POST" && operation.requestBody);
    // A file is as its vendor writes it.
    if (operation.requestBody?.content["text/csv"]) continue;
    if (hasBody) {
      expect(operation.requestBody.content["application/json"].schema.additionalProperties).toBe(false);
    }
  }
  const { post } = document.paths["/admin/v1/keys"];
  expect(Object.keys(post.requestBody.content["application/json"].schema.properties)).toEqual([
    "name",
    "owner",
    "service",
    "team",
    "scopes",
    "limits",
    "expires_at",
  ]);
  expect(post.responses["201"].content["application/json"].schema.properties.secret.type).toBe("string");
  const { parameters } = document.paths["/admin/v1/requests"].get;
  expect(parameters.map(({ name }: { name: string }) => name)).toContain("provider_request_id");
});
