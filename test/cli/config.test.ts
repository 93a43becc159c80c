import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { githubAppEnv } from "#gateway/cli/start/environment.ts";
import { readGatewayConfig, readLauncherConfig } from "#gateway/config.ts";
import { ConfigurationError } from "#shared/env.ts";
import { readGithubAppConfig } from "#shared/github-app-config.ts";
import { parseMasterKey } from "#shared/master-key.ts";

const HEX = "00112233445566778899aabbccddeeff".repeat(2);
const NEEDED = {
  DATABASE_URL: "postgres://u:p@localhost/db",
  ADMIN_KEY: "tga_0123456789abcdef",
  MASTER_KEY: HEX,
};
const PEM = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export({
  type: "pkcs1",
  format: "pem",
}) as string;

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

describe("gateway settings", () => {
  test("with nothing but what is needed, every other setting has its documented default", () => {
    const config = readGatewayConfig(NEEDED);
    expect(config).toMatchObject({
      port: 8787,
      host: "127.0.0.1",
      logLevel: "info",
      publicUrl: null,
      metricsPublic: false,
      allowedHosts: null,
      bytesMax: { json: 33_554_432, otlp: 8_388_608, tool: 4_194_304, multipart: 536_870_912 },
      drainSecondsMax: 300,
    });
    expect(config.dataDirectory).toBe(join(process.cwd(), ".tallygate"));
    expect(config.spool).toEqual({
      directory: join(process.cwd(), ".tallygate", "spool"),
      sync: "normal",
      bytesMax: 1_073_741_824,
    });
  });

  test("all faults are named at once, each with what is accepted", () => {
    const faults = faultsOf(() =>
      readGatewayConfig({ PORT: "http", METRICS_PUBLIC: "yes", LOG_LEVEL: "loud", SPOOL_SYNC: "never" }),
    );
    expect(faults).toEqual([
      'PORT is "http"; expected a port from 1 to 65535',
      'LOG_LEVEL is "loud"; expected one of trace, debug, info, warn, error, fatal',
      'METRICS_PUBLIC is "yes"; expected true or false',
      'SPOOL_SYNC is "never"; expected one of normal, full',
      expect.stringMatching(/^DATABASE_URL is missing; expected a URL such as postgres:.* percent-encoded/),
      "ADMIN_KEY is missing; expected 16 to 200 printable characters without blanks that are hard to guess, e.g. from `openssl rand -hex 32`",
      "MASTER_KEY is missing; expected 32 bytes in hexadecimal or base64",
    ]);
  });

  test.each([
    "clickhouse://host:8123/db",
    "http://u:p@ss@host:8123/db",
    "http://host:8123/db?user=u",
    "http://host:8123/db/more",
    "elsewhere:8123",
  ])("an address of ClickHouse that is none is named, and not shown: %p", (url) => {
    const faults = faultsOf(() => readGatewayConfig({ ...NEEDED, CLICKHOUSE_URL: url }));
    expect(faults).toEqual([
      expect.stringMatching(
        /^CLICKHOUSE_URL has an invalid value; expected a URL such as http:.* percent-encoded/,
      ),
    ]);
    expect(faults.join()).not.toContain(url);
  });

  test("a ClickHouse is one server, or the cluster that is named", () => {
    const url = "https://u:p%40ss@host:8443/db";
    expect(readGatewayConfig(NEEDED).clickhouse).toBeNull();
    expect(readGatewayConfig({ ...NEEDED, CLICKHOUSE_URL: url }).clickhouse).toEqual({ url, cluster: null });
    const env = { ...NEEDED, CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: "main" };
    expect(readGatewayConfig(env).clickhouse).toEqual({ url, cluster: "main" });
    expect(faultsOf(() => readGatewayConfig({ ...NEEDED, CLICKHOUSE_CLUSTER: "main" }))).toEqual([
      expect.stringMatching(/^CLICKHOUSE_URL is missing, which CLICKHOUSE_CLUSTER requires/),
    ]);
    expect(faultsOf(() => readGatewayConfig({ ...env, CLICKHOUSE_CLUSTER: "a`b" }))).toHaveLength(1);
  });

  test.each([
    [{ OIDC_ISSUER: "https://login.example.com" }, ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "PUBLIC_URL"]],
    [{ OIDC_CLIENT_SECRET: "any" }, ["OIDC_ISSUER", "OIDC_CLIENT_ID", "PUBLIC_URL"]],
    [{ OIDC_GROUPS_CLAIM: "roles" }, ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "PUBLIC_URL"]],
    [{ GITHUB_CLIENT_ID: "any" }, ["GITHUB_CLIENT_SECRET", "PUBLIC_URL"]],
    [{ SAML_ISSUER: "any" }, ["SAML_ENTRY_POINT", "SAML_CERTIFICATE", "PUBLIC_URL"]],
    [
      { SAML_GROUPS_ATTRIBUTE: "roles" },
      ["SAML_ENTRY_POINT", "SAML_ISSUER", "SAML_CERTIFICATE", "PUBLIC_URL"],
    ],
  ])("a way to sign in needs all of its settings: %p", (given, missing) => {
    const expected = missing.map((name) => `${name} is missing, which ${Object.keys(given)[0]} requires`);
    expect(faultsOf(() => readGatewayConfig({ ...NEEDED, ...given }))).toEqual(expected);
    expect(faultsOf(() => readLauncherConfig({ ...NEEDED, ...given }))).toEqual(expected);
  });

  test.each(["http://login.example.com", "https://login.example.com?a=b", "login.example.com", "ftp://a"])(
    "the issuer is an https URL without a query, so %p is refused",
    (issuer) => {
      const env = { ...NEEDED, PUBLIC_URL: "https://llm.example.com", OIDC_ISSUER: issuer };
      const whole = { ...env, OIDC_CLIENT_ID: "any", OIDC_CLIENT_SECRET: "any" };
      expect(faultsOf(() => readGatewayConfig(whole))[0]).toStartWith("OIDC_ISSUER is ");
    },
  );

  test("a public address has no path: everything here begins at /", () => {
    const withUrl = (PUBLIC_URL: string) => readGatewayConfig({ ...NEEDED, PUBLIC_URL });
    expect(faultsOf(() => withUrl("https://example.com/tallygate"))[0]).toContain("without a path");
    expect(withUrl("https://llm.example.com/").publicUrl).toBe("https://llm.example.com");
  });

  test.each([
    ["SAML_ENTRY_POINT", "http://login.example.com"],
    ["SAML_CERTIFICATE", "bm8gY2VydGlmaWNhdGU="],
  ])("%s cannot be %p", (name, value) => {
    expect(faultsOf(() => readGatewayConfig({ ...NEEDED, [name]: value }))[0]).toStartWith(`${name} is `);
  });

  test("a fault never holds the value of a secret", () => {
    const canary = "canary-7f3a";
    const faults = [
      ...faultsOf(() =>
        readGatewayConfig({ DATABASE_URL: `mysql://${canary}`, ADMIN_KEY: canary, MASTER_KEY: canary }),
      ),
      ...faultsOf(() =>
        readGithubAppConfig({
          ...NEEDED,
          PRIVATE_KEY: canary,
          WEBHOOK_SECRET: canary,
          WEBHOOK_SECRET_PREVIOUS: canary,
        }),
      ),
    ];
    expect(faults.length).toBeGreaterThanOrEqual(6);
    expect(faults.join("\n")).not.toContain(canary);
  });

  test("an empty setting counts as absent", () => {
    expect(readGatewayConfig({ ...NEEDED, PORT: " ", PUBLIC_URL: "" })).toMatchObject({
      port: 8787,
      publicUrl: null,
    });
  });

  test("a master key is taken as hexadecimal or base64 and is always 32 bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        for (const form of ["hex", "base64", "base64url"] as const) {
          expect(parseMasterKey(buffer.toString(form))).toEqual(bytes);
        }
        expect(parseMasterKey(buffer.toString("hex").slice(2))).toBeNull();
        expect(parseMasterKey(buffer.toString("base64").slice(4))).toBeNull();
      }),
    );
  });

  test("the admin key does not print", () => {
    const config = readGatewayConfig(NEEDED);
    expect(`${config.adminKey} ${JSON.stringify(config)}`).not.toContain(NEEDED.ADMIN_KEY);
    expect(config.adminKey.reveal()).toBe(NEEDED.ADMIN_KEY);
  });

  test("only provider keys that are set are read", () => {
    const { providerKeys } = readGatewayConfig({ ...NEEDED, OPENAI_API_KEY: " sk-1 ", GROQ_API_KEY: "" });
    expect([...providerKeys].map(([name, key]) => [name, key.reveal()])).toEqual([
      ["OPENAI_API_KEY", "sk-1"],
    ]);
  });
});

describe("launcher settings", () => {
  test("the GitHub App's faults are listed with the others, before anything is started", () => {
    const env = {
      LOG_LEVEL: "loud",
      WEBHOOK_SECRET: "short",
      GHE_HOST: "https://github.example",
      APP_ID: "7",
    };
    expect(faultsOf(() => readLauncherConfig(env))).toEqual([
      'LOG_LEVEL is "loud"; expected one of trace, debug, info, warn, error, fatal',
      'GHE_HOST is "https://github.example"; expected the host name of a GitHub Enterprise Server',
      "WEBHOOK_SECRET has an invalid value; expected at least 16 characters that are hard to guess, e.g. from `openssl rand -hex 32`",
      "PRIVATE_KEY or PRIVATE_KEY_PATH is missing, which APP_ID requires",
    ]);
  });

  test("nothing at all is needed", () => {
    expect(readLauncherConfig({})).toMatchObject({ databaseUrl: null, adminKey: null, masterKey: null });
  });

  test("a database of one's own requires a master key of one's own", () => {
    const { DATABASE_URL, MASTER_KEY } = NEEDED;
    expect(faultsOf(() => readLauncherConfig({ DATABASE_URL }))).toEqual([
      expect.stringContaining("MASTER_KEY is missing"),
    ]);
    expect(faultsOf(() => readLauncherConfig({ DATABASE_URL, MASTER_KEY: "short" }))).toEqual([
      expect.stringContaining("MASTER_KEY has an invalid value"),
    ]);
    expect(readLauncherConfig({ DATABASE_URL, MASTER_KEY }).databaseUrl).toBe(DATABASE_URL);
  });
});

describe("GitHub App settings", () => {
  const DATABASE_URL = NEEDED.DATABASE_URL;
  const WEBHOOK_SECRET = "a-secret-of-some-length";

  test("without APP_ID and WEBHOOK_SECRET it can start, and takes no webhook", () => {
    expect(readGithubAppConfig({ DATABASE_URL })).toEqual({
      port: 8788,
      host: "127.0.0.1",
      databaseUrl: DATABASE_URL,
      logLevel: "info",
      app: null,
      webhookSecrets: [],
      webhookPath: "/api/github/webhooks",
      apiUrl: "https://api.github.com",
      webUrl: "https://github.com",
      metricsPublic: false,
      trustedProxies: expect.anything(),
      publicUrl: null,
      gatewayPort: 8787,
      ownUrl: null,
      adminKeyDigest: null,
      sealKey: null,
    });
  });

  test("what the launcher derives of the two keys is what the App derives of them itself", () => {
    const keys = { ADMIN_KEY: "a".repeat(20), MASTER_KEY: "0".repeat(64) };
    const own = readGithubAppConfig({ DATABASE_URL, ...keys });
    const { ADMIN_KEY_SHA256, GITHUB_APP_KEY } = githubAppEnv(
      { adminKey: keys.ADMIN_KEY, masterKey: keys.MASTER_KEY, adminKeyFile: null },
      DATABASE_URL,
    );
    const given = readGithubAppConfig({ DATABASE_URL, ADMIN_KEY_SHA256, GITHUB_APP_KEY });
    expect(given).toEqual(own);
    expect(given.sealKey?.byteLength).toBe(32);
    expect(GITHUB_APP_KEY).not.toBe(keys.MASTER_KEY);
  });

  test("the private key is taken as PEM, with escaped line ends, in base64, and from a file", async () => {
    const path = join(tmpdir(), `tallygate-${crypto.randomUUID()}.pem`);
    await Bun.write(path, PEM);
    const forms = [
      { PRIVATE_KEY: PEM },
      { PRIVATE_KEY: PEM.trim().replaceAll("\n", "\\n") },
      { PRIVATE_KEY: Buffer.from(PEM).toString("base64") },
      { PRIVATE_KEY_PATH: path },
    ];
    for (const form of forms) {
      const config = readGithubAppConfig({ DATABASE_URL, WEBHOOK_SECRET, APP_ID: "17", ...form });
      expect(config.app).toEqual({ id: 17, privateKey: PEM });
    }
    await Bun.file(path).delete();
  });

  test.each(["development", "fifteen-letters"])("the webhook secret %p is refused", (weak) => {
    expect(faultsOf(() => readGithubAppConfig({ DATABASE_URL, WEBHOOK_SECRET: weak }))).toEqual([
      expect.stringContaining("WEBHOOK_SECRET has an invalid value"),
    ]);
  });

  test("two secrets are in force while one replaces the other, the present one first", () => {
    const config = readGithubAppConfig({
      DATABASE_URL,
      WEBHOOK_SECRET,
      WEBHOOK_SECRET_PREVIOUS: "the-one-before-it",
    });
    expect(config.webhookSecrets).toEqual([WEBHOOK_SECRET, "the-one-before-it"]);
  });

  test("an App without key or secret, and a key without an App, are faults", () => {
    expect(faultsOf(() => readGithubAppConfig({ DATABASE_URL, APP_ID: "17" })).length).toBe(2);
    expect(faultsOf(() => readGithubAppConfig({ DATABASE_URL, PRIVATE_KEY: PEM })).length).toBe(1);
    expect(faultsOf(() => readGithubAppConfig({ DATABASE_URL, WEBHOOK_PATH: "/readyz" })).length).toBe(1);
  });

  test("an Enterprise Server's API lies below /api/v3", () => {
    expect(readGithubAppConfig({ DATABASE_URL, GHE_HOST: "git.example.com" }).apiUrl).toBe(
      "https://git.example.com/api/v3",
    );
  });
});
