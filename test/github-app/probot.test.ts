import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { receiveBy, startProbot } from "#github-app/inbox/probot.ts";
import { probotLog } from "#github-app/inbox/probot-log.ts";
import { keptLog, WEBHOOK_SECRET } from "#test/support/github-app.ts";

const delivery = {
  deliveryId: "d1",
  event: "pull_request",
  facts: { action: "opened", installation: { id: 7 } },
  attempts: 0,
};

describe("Probot", () => {
  test("without an App id asks GitHub nothing: a request is refused before it leaves", async () => {
    const { log } = keptLog();
    const probot = await startProbot(
      { app: null, apiUrl: "http://127.0.0.1:9", webhookSecrets: [WEBHOOK_SECRET] },
      log,
      () => undefined,
    );
    const octokit = await probot.auth();
    await expect(octokit.request("GET /app")).rejects.toThrow("receive-only");
  });

  test("with an App id acts as the App, and as an installation with a token of its own", async () => {
    const asked: string[] = [];
    const github = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        const [scheme = ""] = (request.headers.get("authorization") ?? "").split(" ");
        asked.push(`${request.method} ${new URL(request.url).pathname} ${scheme}`);
        if (request.method === "POST") {
          return Response.json(
            { token: "ghs_x", expires_at: "2099-01-01T00:00:00Z", permissions: {} },
            { status: 201 },
          );
        }
        return Response.json({ id: 1 });
      },
    });
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    const { log, lines } = keptLog();
    const seen: unknown[] = [];
    const probot = await startProbot(
      {
        app: { id: 12, privateKey },
        apiUrl: `http://127.0.0.1:${github.port}`,
        webhookSecrets: [WEBHOOK_SECRET],
      },
      log,
      (it) => {
        it.on("pull_request", async ({ id, payload, octokit }) => {
          seen.push([id, payload.action]);
          await octokit.request("GET /repositories");
        });
      },
    );
    await receiveBy(probot)(delivery);
    expect(seen).toEqual([["d1", "opened"]]);
    expect(asked).toEqual(["POST /app/installations/7/access_tokens bearer", "GET /repositories token"]);
    expect(lines.join("\n")).not.toContain("ghs_x");
    await github.stop(true);
  });

  test("a handler's failure comes back to the worker", async () => {
    const { log, lines } = keptLog();
    const probot = await startProbot(
      { app: null, apiUrl: "http://127.0.0.1:9", webhookSecrets: [WEBHOOK_SECRET] },
      log,
      (it) => {
        it.on("pull_request", () => {
          throw new RangeError("CANARY");
        });
      },
    );
    await expect(receiveBy(probot)(delivery)).rejects.toBeInstanceOf(AggregateError);
    expect(lines.join("\n")).not.toContain("CANARY");
  });

  test("its log keeps level, class, code and status, and drops all text and objects", () => {
    const { log, lines } = keptLog();
    const quiet = probotLog(log).child({ body: "CANARY" });
    quiet.error(
      Object.assign(new Error("CANARY"), { status: 404, code: "E_X", event: { body: "CANARY" } }),
      "CANARY",
    );
    quiet.warn({ err: new TypeError("CANARY") }, "CANARY");
    quiet.info({ event: { payload: "CANARY" } }, "CANARY");
    quiet.fatal("CANARY");
    expect(lines.join("\n")).not.toContain("CANARY");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: "error", source: "probot", error: "Error", code: "E_X", status: 404 }),
      expect.objectContaining({ level: "warn", error: "TypeError" }),
      expect.objectContaining({ level: "debug" }),
      expect.objectContaining({ level: "error" }),
    ]);
  });
});
