import { afterAll, beforeAll, expect, test } from "bun:test";
import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { clientsOf } from "#github-app/github/clients.ts";
import { readRegistration, reportRegistration } from "#github-app/github/registration.ts";
import { systemClock } from "#shared/clock.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { keptLog } from "#test/support/embedded.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();

let answer: { permissions: Record<string, string>; events: string[] };
let server: ReturnType<typeof Bun.serve>;

/** Knows the App by the signature of its token alone, as GitHub does. */
function isSigned(authorization: string): boolean {
  const [head = "", body = "", signature = ""] = authorization.replace(/^bearer /i, "").split(".");
  const signed = Buffer.from(`${head}.${body}`);
  return verify("sha256", signed, createPublicKey(privateKey), Buffer.from(signature, "base64url"));
}

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/app" && isSigned(request.headers.get("authorization") ?? "")
        ? Response.json({ id: 7, slug: "tallygate-test", ...answer })
        : Response.json({ message: "Not you" }, { status: 401 }),
  });
});
afterAll(() => server.stop(true));

const app = (privateKeyPem = pem) =>
  clientsOf(
    {
      app: { id: 7, privateKey: privateKeyPem },
      apiUrl: `http://127.0.0.1:${server.port}`,
    },
    { clock: systemClock },
  ).app;

test("an App that GitHub knows with all it needs lacks nothing", async () => {
  answer = {
    permissions: { metadata: "read", pull_requests: "write" },
    events: ["pull_request", "pull_request_review", "repository", "push"],
  };
  expect(await readRegistration(app(), DEFAULT_SETTINGS)).toEqual({
    slug: "tallygate-test",
    missingPermissions: [],
    missingEvents: [],
  });
});

test("what the registration lacks is named, because merges would be missed in silence", async () => {
  answer = { permissions: { metadata: "read" }, events: ["pull_request"] };
  expect(await readRegistration(app(), DEFAULT_SETTINGS)).toEqual({
    slug: "tallygate-test",
    missingPermissions: ["pull_requests: read"],
    missingEvents: ["pull_request_review", "repository"],
  });
});

test("what is switched on needs more than what is not", async () => {
  answer = {
    permissions: { metadata: "read", pull_requests: "read" },
    events: ["pull_request", "pull_request_review", "repository"],
  };
  const log = keptLog();
  await reportRegistration(app(), async () => ({ ...DEFAULT_SETTINGS, pull_request_check: true }), log);
  expect(JSON.stringify(log.lines)).toContain("checks");
  expect((await readRegistration(app(), DEFAULT_SETTINGS)).missingPermissions).toEqual([]);
});

test("a key that is not the App's is said in the log, and ends nothing", async () => {
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const log = keptLog();
  const key = other.export({ type: "pkcs8", format: "pem" }).toString();
  await reportRegistration(app(key), async () => DEFAULT_SETTINGS, log);
  expect(JSON.stringify(log.lines)).toContain("check APP_ID and PRIVATE_KEY");
  expect(JSON.stringify(log.lines)).not.toContain("PRIVATE KEY-");
});
