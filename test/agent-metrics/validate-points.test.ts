import { describe, expect, test } from "bun:test";
import { readExport } from "#gateway/agent-metrics/read-export.ts";
import { rejectedPoints } from "#gateway/agent-metrics/receive.ts";
import { type Point, validatePoints } from "#gateway/agent-metrics/validate-points.ts";
import { histogram, metricsExport, type PointFacts, sum } from "#test/support/otlp.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const TOKENS = "gen_ai.client.token.usage";
const DURATION = "gen_ai.client.operation.duration";
const HOUR = 3_600_000;

function judged(body: object, keyId = "key") {
  const points: Point[] = [];
  const dropped = new Set<string>();
  const refused = rejectedPoints();
  const verdicts = {
    accepted: (point: Point) => void points.push(point),
    refused: refused.add,
    dropped: (name: string) => void dropped.add(name),
  };
  for (const series of readExport(Buffer.from(JSON.stringify(body)), 10_000)) {
    for (const _ of validatePoints(series, { keyId, nowMs: NOW }, verdicts));
  }
  return { points, dropped: [...dropped].sort(), ...refused.summary() };
}

const input = (facts: PointFacts = {}) => ({
  at: NOW,
  asInt: "5",
  ...facts,
  labels: { "gen_ai.token.type": "input", ...facts.labels },
});
const one = (facts: PointFacts, resource = {}, scope = {}) =>
  judged(metricsExport(resource, [sum(TOKENS, [input(facts)])], scope));

describe("a point is refused, and its metric named with the reason", () => {
  test.each([
    ["cumulative", sum(TOKENS, [input()], { aggregationTemporality: 2 }), /token.usage .*cumulative.*delta/],
    ["of no temporality", sum(TOKENS, [input()], { aggregationTemporality: 0 }), /unspecified.*delta/],
    ["of another name", sum("gemini_cli.tool.calls", [input()]), /^gemini_cli.tool.calls is not a metric/],
    ["a gauge", { name: TOKENS, gauge: { dataPoints: [input()] } }, /is a gauge/],
    ["a summary", { name: TOKENS, summary: { dataPoints: [input()] } }, /is a summary/],
    ["without sum", histogram(TOKENS, [input({ asInt: undefined, count: 3 })]), /has no sum/],
    ["negative", sum(TOKENS, [input({ asInt: -1 })]), /is negative/],
    ["NaN", sum(TOKENS, [input({ asInt: undefined, asDouble: "NaN" })]), /is not a number/],
    ["a broken number of tokens", sum(TOKENS, [input({ asInt: 1.5 })]), /is not a whole number/],
    ["of no type", sum(TOKENS, [{ at: NOW, asInt: 1 }]), /without a known token type/],
    [
      "of a type nobody knows",
      sum(TOKENS, [input({ labels: { "gen_ai.token.type": "constructor" } })]),
      /known/,
    ],
    ["a day ahead", sum(TOKENS, [input({ at: NOW + 24 * HOUR + 1 })]), /in the future/],
    ["a month old", sum(TOKENS, [input({ at: NOW - 30 * 24 * HOUR - 1 })]), /over 30 days old/],
    ["without a time", sum(TOKENS, [input({ at: 0, from: null })]), /no time/],
  ])("%s", (_, metric, reason) => {
    const { points, rejectedDataPoints, errorMessage } = judged(metricsExport({}, [metric]));
    expect({ points, rejectedDataPoints }).toEqual({ points: [], rejectedDataPoints: 1 });
    expect(errorMessage).toMatch(reason);
  });
});

describe("a point is stored", () => {
  test("at the edges of its time", () => {
    for (const at of [NOW + 24 * HOUR, NOW - 30 * 24 * HOUR]) expect(one({ at }).points).toHaveLength(1);
  });

  test("from a sum and from a histogram, with numbers as numbers or as text", () => {
    const body = metricsExport({}, [
      sum(TOKENS, [input(), input({ at: NOW - 1, asInt: undefined, asDouble: 7 })]),
      histogram(TOKENS, [input({ at: NOW - 2, asInt: undefined, count: "2", sum: 11 })]),
      {
        ...sum(TOKENS, [input({ at: NOW - 3 })], { aggregationTemporality: "AGGREGATION_TEMPORALITY_DELTA" }),
      },
    ]);
    expect(judged(body).points.map(({ tokens }) => tokens)).toEqual([5, 7, 11, 5]);
  });

  test("with operations counted by histograms, and seconds also where milliseconds were sent", () => {
    const metrics = [
      { ...histogram(DURATION, [{ at: NOW, count: "3", sum: 4.5 }]), unit: "s" },
      { ...histogram(DURATION, [{ at: NOW, count: 2, sum: 1500 }]), unit: "ms" },
      { ...sum(DURATION, [{ at: NOW, asDouble: 2 }]), unit: "s" },
    ];
    expect(judged(metricsExport({}, metrics)).points).toMatchObject([
      { operations: 3, durationSeconds: "4.5", tokens: null },
      { operations: 2, durationSeconds: "1.5" },
      { operations: null, durationSeconds: "2" },
    ]);
  });
});

describe("attributes", () => {
  test("of the point win over the scope's, and those over the resource's", () => {
    const levels = [
      { "session.id": "r", "service.name": "r" },
      { "session.id": "s", "enduser.id": "s" },
    ] as const;
    const [found] = one({ labels: { "session.id": "p" } }, ...levels).points;
    expect(found).toMatchObject({ session: "p", client: "r", userLabel: "s" });
  });

  test("that the contract does not list are dropped by name; those that it lists are kept", () => {
    const { points, dropped } = one({
      labels: {
        "gen_ai.prompt": "secret",
        "gen_ai.system": "openai",
        "gen_ai.provider.name": "openai",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "gen_ai.agent.name": "a",
        "server.address": "api.example",
        "server.port": 443,
        "error.type": "timeout",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.language": "nodejs",
        "telemetry.sdk.version": "2.0",
      },
    });
    expect(dropped).toEqual(["gen_ai.prompt"]);
    expect(points[0]).toMatchObject({
      system: "openai",
      provider: "openai",
      operation: "chat",
      model: "gpt-4o",
      responseModel: "gpt-4o-2024-08-06",
      agent: "a",
      serverAddress: "api.example",
      serverPort: "443",
      errorType: "timeout",
      sdkName: "opentelemetry",
      sdkLanguage: "nodejs",
      sdkVersion: "2.0",
    });
    expect(JSON.stringify(points)).not.toContain("secret");
  });

  test("of 129 characters are dropped whole and named; of 128 they are kept", () => {
    const long = one({ labels: { "enduser.id": "u".repeat(129) } });
    expect([long.points[0]?.userLabel, long.dropped]).toEqual([null, ["enduser.id"]]);
    expect(one({ labels: { "enduser.id": "u".repeat(128) } }).points[0]?.userLabel).toBe("u".repeat(128));
  });

  test("that are lists or objects are dropped", () => {
    const list = { arrayValue: { values: [{ stringValue: "x" }] } };
    expect(one({ labels: { "session.id": list } })).toMatchObject({
      points: [{ session: null }],
      dropped: ["session.id"],
    });
  });

  test("a service name of 33 characters leaves the client unknown, of 32 it is the client", () => {
    expect(one({}, { "service.name": "c".repeat(33) }).points[0]?.client).toBe("unknown");
    expect(one({}, { "service.name": "c".repeat(32) }).points[0]?.client).toBe("c".repeat(32));
    expect(one({}).points[0]?.client).toBe("unknown");
  });

  test("user.id is the person where enduser.id is not sent, but not Claude Code's id of an installation", () => {
    const install = "0123456789abcdef".repeat(4);
    expect(one({ labels: { "user.id": "ann" } }).points[0]?.userLabel).toBe("ann");
    expect(one({ labels: { "user.id": "ann", "enduser.id": "eve" } }).points[0]?.userLabel).toBe("eve");
    expect(
      one({ labels: { "user.id": install } }, { "service.name": "claude-code" }).points[0]?.userLabel,
    ).toBeNull();
    expect(one({ labels: { "user.id": install } }).points[0]?.userLabel).toBe(install);
  });
});

describe("the identity of a point", () => {
  const hash = (body: object, key?: string) => judged(body, key).points[0]?.hash;
  const body = (facts: PointFacts, resource = {}) => metricsExport(resource, [sum(TOKENS, [input(facts)])]);

  test("is the same when it is sent again, in whatever order its attributes stand", () => {
    const there = hash(body({ labels: { a: 1, b: 2 } }));
    expect(hash(body({ labels: { b: 2, a: 1 } }))).not.toBeUndefined();
    expect(hash(body({ labels: { a: 1, b: 2 } }))).toBe(there);
    const turned = metricsExport({}, [
      sum(TOKENS, [{ at: NOW, asInt: "5", labels: { b: 2, a: 1, "gen_ai.token.type": "input" } }]),
    ]);
    expect(hash(turned)).toBe(there);
  });

  test("differs by key, by time and by any attribute, also by one that is dropped", () => {
    const all = [
      hash(body({})),
      hash(body({}), "another"),
      hash(body({ from: NOW - 1 })),
      hash(body({ at: NOW - 1, from: NOW - 60_000 })),
      hash(body({ labels: { dropped: "x" } })),
      hash(body({}, { dropped: "x" })),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

test("an answer names at most 50 refusals, and no name that is too long", () => {
  const many = Array.from({ length: 60 }, (_, i) => sum(`m${i}`, [{}]));
  const { rejectedDataPoints, errorMessage } = judged(
    metricsExport({}, [sum("x".repeat(5000), [{}]), ...many]),
  );
  expect(rejectedDataPoints).toBe(61);
  expect(errorMessage).toMatch(/^\(a name that is too long\) is not .*; and 11 more$/);
  expect(errorMessage.length).toBeLessThan(4000);
});
