import { expect, test } from "bun:test";
import { readGatewayConfig, readLauncherConfig } from "#gateway/config.ts";
import { workersOf } from "#gateway/workers/setting.ts";

const KEYS = {
  DATABASE_URL: "postgres://u:p@h/d",
  MASTER_KEY: "07".repeat(32),
  ADMIN_KEY: "tga_0123456789abcdef",
};

test("one worker is the default, and auto leaves a core to the others", () => {
  expect(readLauncherConfig({}).workers).toBe(1);
  expect(readLauncherConfig({ WORKERS: "3" }).workers).toBe(3);
  expect([1, 2, 8, 200].map((cores) => workersOf("auto", cores))).toEqual([1, 1, 7, 64]);
});

test.each(["0", "65", "-1", "1.5", "two", "all", "0x2"])(
  "WORKERS=%s is refused with what is accepted",
  (value) => {
    expect(() => readLauncherConfig({ WORKERS: value })).toThrow(
      `WORKERS is "${value}"; expected auto, or a number of processes from 1 to 64`,
    );
  },
);

test("what is set for the gateway is shared out among its workers, and one worker has all of it", () => {
  const settings = {
    ...KEYS,
    SPOOL_BYTES_MAX: "100000001",
    BODIES_BYTES_MAX: "8000000",
    CALLS_MAX: "100",
    CALLS_PER_KEY_MAX: "3",
    REFUSALS_PER_MINUTE: "10",
  };
  const facts = (config: ReturnType<typeof readGatewayConfig>) => [
    config.spool.bytesMax,
    config.bodiesBytesMax,
    config.inFlightMax.process,
    config.inFlightMax.perKey,
    config.inFlightMax.share(1),
    config.refusalsPerMinute,
  ];
  expect(facts(readGatewayConfig(settings))).toEqual([100_000_001, 8_000_000, 100, 3, 1, 10]);
  expect(facts(readGatewayConfig({ ...settings, TALLYGATE_PROCESSES: "2" }))).toEqual([
    50_000_001, 4_000_000, 50, 2, 1, 5,
  ]);
});
