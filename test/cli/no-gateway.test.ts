import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { apiAt } from "#gateway/cli/client/api.ts";
import { beginSignIn } from "#gateway/cli/client/oauth.ts";
import { gatewayFindings } from "#gateway/cli/doctor/gateway.ts";
import { Secret } from "#gateway/directory.ts";
import { ERRORS } from "#gateway/errors.ts";
import { parseSessionId } from "#shared/labels.ts";

// What commands say of an address where no gateway answers: the cause, and never that all is well.

const FIXTURES = join(import.meta.dir, "../fixtures/tls");
const html = () =>
  new Response("<html>Welcome to nginx!</html>", { headers: { "content-type": "text/html" } });
const servers: Bun.Server<undefined>[] = [];
const serving = (answer: () => Response, tls?: { key: Bun.BunFile; cert: Bun.BunFile }): string => {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer, ...(tls && { tls }) });
  servers.push(server);
  return server.url.origin;
};
afterAll(() => Promise.all(servers.map((server) => server.stop(true))));

const certified = {
  key: Bun.file(join(FIXTURES, "model.test.key.pem")),
  cert: Bun.file(join(FIXTURES, "model.test.cert.pem")),
};
const PLACES = {
  "another web server": [serving(html), "not a Tallygate gateway"],
  "a server that answers text": [serving(() => new Response("It works!")), "not a Tallygate gateway"],
  "the GitHub App": [serving(() => Response.json({ status: "ready" })), "not a Tallygate gateway"],
  "a redirect": [serving(() => Response.redirect("https://elsewhere.example/")), /redirects|status 302/],
  "an unknown certificate": [serving(html, certified), "NODE_EXTRA_CA_CERTS"],
  "no TLS": [serving(html).replace("http:", "https:"), "no TLS connection"],
  "an unknown name": [`http://${"a".repeat(64)}.example`, "is not known"],
} satisfies Record<string, [string, string | RegExp]>;

const session = parseSessionId("a-session");
if (session === null) throw new Error("a session id");
const key = new Secret("a-key-of-a-test");

describe.each(Object.entries(PLACES))("%s", (name, [url, said]) => {
  test("doctor finds a problem and names it", async () => {
    const findings = await Array.fromAsync(
      gatewayFindings({ url, client: key, admin: key, model: null, session }),
    );
    expect(findings).toMatchObject([{ state: "failed" }]);
    expect(JSON.stringify(findings)).toMatch(said);
  });

  test("so do commands that read, and sign-in", async () => {
    // What it answers has the form of a gateway's.
    if (name === "the GitHub App") return;
    await expect(apiAt(url, key).call("GET", "/admin/v1/keys")).rejects.toThrow(said);
    if (/text/.test(name)) return;
    await expect(apiAt(url, key).file("/admin/v1/export")).rejects.toThrow(said);
    await expect(beginSignIn(url, "a computer")).rejects.toThrow(
      name === "another web server" ? "sign-in" : said,
    );
  });
});

test("what a gateway does not have is named, and not its address alone", async () => {
  const error = { message: ERRORS.not_found.public, type: "not_found_error" };
  const api = apiAt(
    serving(() => Response.json({ error }, { status: 404 })),
    key,
  );
  await expect(api.call("DELETE", "/admin/v1/budgets/a%20team?x=1")).rejects.toThrow(
    "The gateway has no budgets/a team. (404)",
  );
});
