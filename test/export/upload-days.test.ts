import { beforeAll, expect, spyOn, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { connect } from "#drizzle/database.ts";
import { uploadDay } from "#gateway/export/upload-days.ts";
import { createSealer } from "#gateway/stores/seal.ts";
import { createOutboundFetch } from "#gateway/upstream/outbound-fetch.ts";
import { addressGuard } from "#gateway/upstream/ssrf.ts";
import { systemClock } from "#shared/clock.ts";
import { recordedLog, type World, world } from "#test/admin/world.ts";
import { seed } from "#test/reports/world.ts";
import { atEnd } from "#test/support/at-end.ts";

const SECRET = "a-secret-access-key-of-storage";
const NOW = new Date("2026-11-08T03:00:00Z");
const objects = new Map<string, string>();
/** Status of the next uploads. */
let answers: number[] = [];
let it: World;

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

/** AWS Signature Version 4 of a presigned address, as its documentation computes it. */
function isSigned(request: Request): boolean {
  const url = new URL(request.url);
  const given = url.searchParams.get("X-Amz-Signature");
  url.searchParams.delete("X-Amz-Signature");
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  const at = url.searchParams.get("X-Amz-Date") ?? "";
  const scope = `${at.slice(0, 8)}/eu-central-1/s3/aws4_request`;
  const canonical = [
    request.method,
    url.pathname,
    query,
    `host:${request.headers.get("host")}`,
    "",
    "host",
    "UNSIGNED-PAYLOAD",
  ];
  const hash = createHash("sha256").update(canonical.join("\n")).digest("hex");
  const key = [at.slice(0, 8), "eu-central-1", "s3", "aws4_request"].reduce<Buffer | string>(
    hmac,
    `AWS4${SECRET}`,
  );
  return given === hmac(key, ["AWS4-HMAC-SHA256", at, scope, hash].join("\n")).toString("hex");
}

const storage = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const status = isSigned(request) ? (answers.shift() ?? 200) : 403;
    if (status === 200)
      objects.set(`${request.method} ${new URL(request.url).pathname}`, await request.text());
    return new Response(null, { status });
  },
});
atEnd(() => storage.stop(true));

const round = (now = NOW) =>
  uploadDay({
    database: it.database,
    sealer: createSealer(new Uint8Array(32).fill(7)),
    reach: createOutboundFetch(addressGuard(systemClock)),
    clock: { ...systemClock, now: () => now },
    log: recordedLog(),
  });

const put = (over = {}) =>
  it.call("PUT", "/export/destination", {
    ...{
      endpoint: `http://127.0.0.1:${storage.port}`,
      allow_private_network: true,
      bucket: "costs",
      format: "csv",
    },
    ...{ region: "eu-central-1", prefix: "focus/", access_key_id: "AKID", secret_access_key: SECRET },
    ...{ from: "2026-11-06", ...over },
  });

beforeAll(async () => {
  it = await world();
  const sql = connect(it.url, { name: "test", max: 1, statementTimeoutMs: 60_000 });
  const requests = ["2026-11-02", "2026-11-06", "2026-11-07", "2026-11-08"].map((day) => ({
    ...{ at: `${day}T01:00:00Z`, provider: "openai", cost: "0.02", price: "image 1 0.02|list:img" },
  }));
  await seed(sql, "default", { requests });
  await sql.end();
});

test("each day that is over is one object, signed, and the days before the latest are written again", async () => {
  expect((await put()).status).toBe(200);
  expect([await round(), [...objects.keys()]]).toEqual([true, ["PUT /costs/focus/focus-2026-11-06.csv"]]);
  const asked = spyOn(it.database.long, "unsafe");
  expect(await round()).toBe(true);
  // What takes long is asked once for all days.
  expect(asked.mock.calls.filter(([text]) => text.includes("from commitments"))).toHaveLength(1);
  asked.mockRestore();
  expect([...objects.keys()].sort()).toEqual(
    ["02", "03", "04", "05", "06", "07"].map((day) => `PUT /costs/focus/focus-2026-11-${day}.csv`),
  );
  expect(objects.get("PUT /costs/focus/focus-2026-11-07.csv")?.split("\r\n")).toHaveLength(3);
  // A day without calls has its columns and no row.
  expect(objects.get("PUT /costs/focus/focus-2026-11-03.csv")?.split("\r\n")).toHaveLength(2);
  expect(await round()).toBe(false);
});

test("a day that was not taken is tried again, from where it stopped, and no secret is shown or stored in clear", async () => {
  await put();
  objects.clear();
  answers = [503];
  expect(await round()).toBe(false);
  const { body, text } = await it.call("GET", "/export/destination");
  expect(body).toMatchObject({ done_until: "2026-11-06T00:00:00.000Z", failure: expect.any(String) });
  expect(text).not.toContain(SECRET);
  expect(JSON.stringify(await it.database.db.execute("select * from export_destinations"))).not.toContain(
    SECRET,
  );
  // Not before its time.
  expect(await round()).toBe(false);
  expect(await round(new Date(Date.now() + 3_600_000))).toBe(true);
  expect(objects.size).toBeGreaterThan(0);
});

test("a private address is refused unless it is allowed, and a new bucket needs its own secret", async () => {
  const refused = await put({ allow_private_network: false });
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("/endpoint:")]);
  const other = await put({ bucket: "other", secret_access_key: undefined });
  expect([other.status, other.body.error.message]).toEqual([
    400,
    expect.stringContaining("/secret_access_key:"),
  ]);
  expect((await put({ secret_access_key: undefined, from: undefined })).body.done_until).not.toBe(
    "2026-11-01T00:00:00.000Z",
  );
  expect((await it.call("DELETE", "/export/destination")).status).toBe(204);
  expect((await it.call("GET", "/export/destination")).status).toBe(404);
});
