import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createHash, createHmac, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { type Provider, Secret } from "#gateway/directory.ts";
import { GatewayError } from "#gateway/errors.ts";
import type { ProviderKind } from "#gateway/providers/catalog.ts";
import type { SurfaceName } from "#gateway/surface-facts.ts";
import { hostedSender } from "#gateway/upstream/hosted/hosted.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import type { Sending } from "#gateway/upstream/send.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { movableClock } from "#test/stores/movable-clock.ts";

const clock = movableClock();
const reach = createOutboundFetch(addressGuard(clock));

let sent: Sending[] = [];
beforeEach(() => {
  sent = [];
});
const send = hostedSender(
  async (sending) => {
    sent.push(sending);
    return Response.json({ ok: true }, { headers: { "x-amzn-requestid": "aws-id" } });
  },
  { clock, reach },
);

/** Where calls go that are left alone; of AWS's hosts one that names its service. */
const SENT_TO = "https://bedrock-mantle.us-west-2.api.aws/anthropic/v1/messages";

type Asked = {
  kind: ProviderKind;
  baseUrl: string;
  credential: string | null;
  model?: string;
  body?: string;
  surface?: SurfaceName;
  headers?: Record<string, string>;
};

async function sendTo({ kind, baseUrl, credential, headers, ...rest }: Asked) {
  const provider: Provider = {
    name: kind,
    kind,
    baseUrl,
    credential: credential === null ? null : new Secret(credential),
    headers: {},
    models: null,
    responses: true,
    trustedForPassthrough: false,
    subscriptionPassthrough: false,
    subscriptionModels: [],
    allowPrivateNetwork: true,
    defaultFor: [],
    streamOptions: true,
    firstByteMs: 600_000,
    idleMs: 300_000,
    enabled: true,
  };
  const answer = await send({
    target: { provider, model: rest.model ?? "claude-opus-4-6", wire: "messages" },
    surface: rest.surface ?? "messages",
    url: SENT_TO,
    headers: { ...headers },
    streamed: false,
    body: new TextEncoder().encode(rest.body ?? '{"model":"m","messages":[]}'),
    signal: new AbortController().signal,
    onSent: () => undefined,
  });
  const [it] = sent;
  if (!it) throw new Error("nothing was sent");
  return { ...it, headers: new Headers(it.headers), answer, text: new TextDecoder().decode(it.body) };
}

const BEDROCK = {
  kind: "bedrock",
  baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com",
  credential: "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
} as const;

describe("a call of Bedrock", () => {
  test.each([
    [false, "invoke"],
    [true, "invoke-with-response-stream"],
  ])("has its model in the path and its version in the body (stream: %p)", async (stream, action) => {
    const body = `{"model":"m", "max_tokens" : 12345678901234567890,"stream":${stream},"messages":[]}`;
    const { url, text, headers, answer } = await sendTo({
      ...BEDROCK,
      body,
      headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "one-2026-01-01, two" },
    });
    expect(url).toBe(`${BEDROCK.baseUrl}/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/${action}`);
    expect(text).toBe(
      '{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["one-2026-01-01","two"],' +
        '"max_tokens" : 12345678901234567890,"messages":[]}',
    );
    expect([headers.has("anthropic-beta"), headers.has("anthropic-version")]).toEqual([false, false]);
    expect(answer.headers.get("request-id")).toBe("aws-id");
  });

  test("says a later version as the client wrote it", async () => {
    const headers = { "anthropic-version": "2026-10-21" };
    const { text } = await sendTo({ ...BEDROCK, body: "{}", headers });
    expect(text).toBe('{"anthropic_version":"2026-10-21"}');
    sent = [];
    const other = await sendTo({ ...vertex("version"), body: "{}", headers });
    expect(other.text).toBe('{"anthropic_version":"2026-10-21"}');
    expect(other.headers.has("anthropic-version")).toBe(false);
  });

  test("says no version but the client's, if that is in the body", async () => {
    const { text } = await sendTo({
      ...BEDROCK,
      body: '{"anthropic_version":"bedrock-other","messages":[]}',
    });
    expect(text).toBe('{"anthropic_version":"bedrock-other","messages":[]}');
  });

  test("is signed over its address, its time and its body, in the address's region", async () => {
    const { url, headers, body } = await sendTo(BEDROCK);
    expect(headers.get("authorization")).toBe(signatureOf({ url, headers, body, region: "eu-central-1" }));
    expect(headers.has("x-amz-security-token")).toBe(false);
  });

  test("with a session's token says and signs it", async () => {
    const credential = `ASIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:token/of+session==`;
    const { url, headers, body } = await sendTo({ ...BEDROCK, credential });
    expect(headers.get("x-amz-security-token")).toBe("token/of+session==");
    expect(headers.get("authorization")).toBe(
      signatureOf({ url, headers, body, region: "eu-central-1", id: "ASIAIOSFODNN7EXAMPLE" }),
    );
  });

  test("with an API key of Bedrock's carries it as a bearer token", async () => {
    const { headers } = await sendTo({ ...BEDROCK, credential: "ABSKQmVkcm9ja0FQSUtleQ==" });
    expect(headers.get("authorization")).toBe("Bearer ABSKQmVkcm9ja0FQSUtleQ==");
  });

  test("keeps the caller's own credential where one was passed on", async () => {
    const { headers } = await sendTo({ ...BEDROCK, headers: { authorization: "Bearer theirs" } });
    expect(headers.get("authorization")).toBe("Bearer theirs");
  });

  test("in OpenAI's format is signed and otherwise left alone", async () => {
    const body = '{"model":"openai.gpt-oss-20b-1:0","messages":[]}';
    const { url, text, headers } = await sendTo({ ...BEDROCK, kind: "bedrock-openai", body });
    expect(url).toBe(SENT_TO);
    expect(text).toBe(body);
    expect(headers.get("authorization")).toStartWith("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/");
  });

  test("at Mantle is signed for Mantle, and otherwise left alone", async () => {
    const baseUrl = "https://bedrock-mantle.us-west-2.api.aws/anthropic";
    const { url, text, headers } = await sendTo({ ...BEDROCK, kind: "bedrock-mantle", baseUrl, body: "{}" });
    expect([url, text]).toEqual([SENT_TO, "{}"]);
    expect(headers.get("authorization")).toContain("/us-west-2/bedrock-mantle/aws4_request, ");
  });

  test("to count tokens is answered by an estimate, because Bedrock's form has no count", async () => {
    await expect(sendTo({ ...BEDROCK, surface: "messages.count_tokens" })).rejects.toThrow(
      "nothing was sent",
    );
  });
});

/** Signature Version 4 by AWS's own description, from what was sent. */
function signatureOf(sent: {
  url: string;
  headers: Headers;
  body: Uint8Array;
  region: string;
  id?: string;
}): string {
  const { host, pathname } = new URL(sent.url);
  const time = sent.headers.get("x-amz-date") ?? "";
  const names = ["host", "x-amz-date", "x-amz-security-token"].filter(
    (name) => name === "host" || sent.headers.has(name),
  );
  const hex = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
  const mac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
  const path = pathname.split("/").map(encodeURIComponent).join("/");
  const lines = names.map((name) => `${name}:${name === "host" ? host : sent.headers.get(name)}\n`);
  const canonical = ["POST", path, "", lines.join(""), names.join(";"), hex(sent.body)].join("\n");
  const scope = `${time.slice(0, 8)}/${sent.region}/bedrock/aws4_request`;
  const said = ["AWS4-HMAC-SHA256", time, scope, hex(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce<string | Buffer>(
      (secret, part) => mac(secret, part),
      "AWS4wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    );
  const signature = mac(key as Buffer, said).toString("hex");
  const id = sent.id ?? "AKIAIOSFODNN7EXAMPLE";
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
}

const { privateKey, publicKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
let grants: URLSearchParams[] = [];
let grant = () => Response.json({ access_token: `token-${grants.length}`, expires_in: 3600 });
const google = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    grants.push(new URLSearchParams(await request.text()));
    return grant();
  },
});
afterAll(() => google.stop(true));

/** An account of its own: tokens are kept by account. */
const vertex = (name: string) =>
  ({
    kind: "vertex",
    baseUrl: "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1",
    credential: JSON.stringify({
      type: "service_account",
      client_email: `${name}@p.iam.gserviceaccount.com`,
      private_key: privateKey,
      token_uri: `${google.url}token`,
    }),
  }) as const;

describe("a call of Vertex", () => {
  beforeEach(() => {
    grants = [];
  });

  test.each([
    [false, "rawPredict"],
    [true, "streamRawPredict"],
  ])("has its model in the path and its version in the body (stream: %p)", async (stream, action) => {
    const it = await sendTo({
      ...vertex("path"),
      model: "claude-sonnet-4-5@20250929",
      body: `{"stream":${stream},"model":"m","messages":[]}`,
      headers: { "anthropic-beta": "one" },
    });
    expect(it.url).toEndWith(`/publishers/anthropic/models/claude-sonnet-4-5@20250929:${action}`);
    expect(it.text).toBe(`{"anthropic_version":"vertex-2023-10-16","stream":${stream},"messages":[]}`);
    expect(it.headers.get("anthropic-beta")).toBe("one");
  });

  test("to count tokens goes to the counter, and says the model in the body", async () => {
    const it = await sendTo({ ...vertex("count"), surface: "messages.count_tokens", body: '{"model":"m"}' });
    expect(it.url).toEndWith("/publishers/anthropic/models/count-tokens:rawPredict");
    expect(it.text).toBe('{"anthropic_version":"vertex-2023-10-16","model":"m"}');
  });

  test("carries a token that Google gave for the account's signed word", async () => {
    const { headers } = await sendTo(vertex("word"));
    expect(headers.get("authorization")).toBe("Bearer token-1");
    const [asked] = grants;
    expect(asked?.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [head = "", claims = "", signature = ""] = asked?.get("assertion")?.split(".") ?? [];
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(head)).toEqual({ alg: "RS256", typ: "JWT" });
    const { iat, exp, ...said } = read(claims);
    expect(said).toEqual({
      iss: "word@p.iam.gserviceaccount.com",
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: `${google.url}token`,
    });
    expect(exp - iat).toBe(3600);
    expect(Math.abs(iat - clock.now().getTime() / 1000)).toBeLessThan(5);
    const word = Buffer.from(`${head}.${claims}`);
    expect(verify("RSA-SHA256", word, createPublicKey(publicKey), Buffer.from(signature, "base64url"))).toBe(
      true,
    );
  });

  test("asks for one token for all calls at once, and for another before that one ends", async () => {
    const account = vertex("many");
    await Promise.all(Array.from({ length: 20 }, () => sendTo(account)));
    expect(grants.length).toBe(1);
    clock.advance(3_530_000);
    await sendTo(account);
    expect(grants.length).toBe(1);
    clock.advance(20_000);
    await sendTo(account);
    expect(grants.length).toBe(2);
  });

  test.each([
    [400, "provider_unconfigured"],
    [401, "provider_unconfigured"],
    [503, "upstream_unreachable"],
  ] as const)(
    "that Google answers with %d to the account fails as %s, and asks again next time",
    async (status, type) => {
      const given = grant;
      grant = () => Response.json({ error: "invalid_grant" }, { status });
      const account = vertex(`refused-${status}`);
      await expect(sendTo(account)).rejects.toMatchObject({ type });
      grant = given;
      expect((await sendTo(account)).headers.get("authorization")).toStartWith("Bearer token-");
    },
  );

  test.each(['{"client_email":"x"}', '{"client_email":"x","private_key":"no key"}', "{"])(
    "with a credential that is no account fails as unconfigured (%s)",
    async (credential) => {
      await expect(sendTo({ ...vertex("none"), credential })).rejects.toBeInstanceOf(GatewayError);
      await expect(sendTo({ ...vertex("none"), credential })).rejects.toMatchObject({
        type: "provider_unconfigured",
      });
      expect(sent).toEqual([]);
    },
  );

  test("carries an access token as it is", async () => {
    const { headers } = await sendTo({ ...vertex("plain"), credential: "ya29.token" });
    expect(headers.get("authorization")).toBe("Bearer ya29.token");
    expect(grants).toEqual([]);
  });
});
