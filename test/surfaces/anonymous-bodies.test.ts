import { beforeAll, describe, expect, test } from "bun:test";
import { type WiredGateway, wiredGateway } from "#test/support/wired-gateway.ts";

let gateway: WiredGateway;
beforeAll(async () => {
  const nowhere = "http://127.0.0.1:9";
  gateway = await wiredGateway({ chat: nowhere, messages: nowhere });
});

async function post(path: string, type: string, body: string) {
  const answer = await fetch(gateway.url + path, { method: "POST", headers: { "content-type": type }, body });
  return { status: answer.status, text: await answer.text() };
}

describe("what anyone may send is counted before it is parsed", () => {
  const LINK = "/auth/sign-in/link";
  const FORM = "application/x-www-form-urlencoded";

  test.each([
    ["60,000 values", JSON.stringify(Array.from({ length: 60_000 }, () => 0)), 413],
    ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`, 400],
    ["over a megabyte", JSON.stringify({ token: "x".repeat(1024 * 1024) }), 413],
  ])("JSON of %s", async (_, body, status) => {
    expect((await post(LINK, "application/json", body)).status).toBe(status);
  });

  test("JSON of many unknown members gets a short answer", async () => {
    const body = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`m${i}`, 1])));
    const { status, text } = await post(LINK, "application/json", body);
    expect([status, text.length < 2_000]).toEqual([400, true]);
  });

  test.each([LINK, "/oauth/token", "/oauth/device_authorization", "/oauth/revoke"])(
    "a form of 1,000 fields to %s",
    async (path) => {
      expect((await post(path, FORM, "a&".repeat(1_000))).status).toBe(400);
    },
  );
});
