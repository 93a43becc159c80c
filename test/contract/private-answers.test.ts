import { beforeAll, describe, expect, test } from "bun:test";
import { atEnd } from "#test/support/at-end.ts";
import { ADMIN_KEY } from "#test/support/gateway-process.ts";
import { type Reply, scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

/** What is the same for everyone, and says itself how long it may be kept. */
const PUBLIC = ["/", "/docs", "/openapi", "/sign-in", "/device", "/set-up", "/no-such-page"];

let gateway: WiredGateway;
let operations: { method: string; path: string }[];
let play: (reply: Reply) => void = ({ json }) => json({}, 404);

beforeAll(async () => {
  const upstream = await scriptedUpstream((_request, reply) => play(reply));
  atEnd(upstream.close);
  gateway = await wiredGateway({ chat: `${upstream.url}/v1`, messages: upstream.url });
  const document: { paths: Record<string, object> } = await (
    await fetch(`${gateway.url}/openapi/json`)
  ).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
});

describe("every address", () => {
  test("answers whoever asks with what no cache keeps and no browser reads as another type", async () => {
    expect(operations.length).toBeGreaterThan(100);
    const keyOf = { none: null, admin: ADMIN_KEY, client: gateway.secret, wrong: "tg_wrong" };
    const faults: string[] = [];
    for (const [name, key] of Object.entries(keyOf)) {
      for (const { method, path } of operations) {
        if (key !== null && method === "DELETE") continue;
        const answer = await fetch(gateway.url + path.replaceAll(/\{[^}]+\}/g, "none"), {
          method,
          redirect: "manual",
          headers: {
            "content-type": "application/json",
            accept: "application/json",
            ...(key !== null && { authorization: `Bearer ${key}` }),
          },
          ...(!["GET", "HEAD"].includes(method) && { body: "{}" }),
        });
        await answer.body?.cancel();
        const said = answer.headers.get("cache-control") ?? "nothing";
        const isKept = !said.includes("no-store") && !PUBLIC.includes(path);
        const isSniffed = answer.headers.get("x-content-type-options") !== "nosniff";
        if (isKept || isSniffed) faults.push(`${method} ${path} (${name}): ${answer.status} ${said}`);
      }
    }
    expect(faults).toEqual([]);
  });

  test("also one whose path is ambiguous, or that does not exist", async () => {
    for (const path of ["/v1//me", "/v1/none", "/admin/v1/none"]) {
      const { headers } = await fetch(gateway.url + path);
      expect([path, headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual([
        path,
        "no-store",
        "nosniff",
      ]);
    }
  });
});

test.each(["private, max-age=60", null])(
  "a model answer keeps the vendor's cache-control (%p)",
  async (sent) => {
    const body = { id: "x", object: "chat.completion", choices: [] };
    play = ({ json }) => json(body, 200, sent === null ? {} : { "cache-control": sent });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-x", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, sent ?? "no-store"]);
  },
);
