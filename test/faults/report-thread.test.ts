import { afterEach, describe, expect, test } from "bun:test";
import { GatewayError } from "#gateway/errors.ts";
import { type ReportWriter, reportWriter } from "#gateway/stores/reports/report-writer.ts";
import { systemClock } from "#shared/clock.ts";
import type { Spec } from "#shared/report.ts";
import { keptLog } from "#test/support/embedded.ts";

const THREAD = new URL("../support/report-thread-child.ts", import.meta.url);
const log = keptLog();
let writer: ReportWriter;

const open = () => {
  writer = reportWriter(
    { url: "postgres://a", mainUrl: "postgres://b" },
    { log, clock: systemClock },
    THREAD,
  );
};
afterEach(() => writer.close());

const spec = (deed: string): Spec => ({
  source: "requests",
  dimensions: [],
  measures: ["requests"],
  filters: { client: [deed] },
  range: "7d",
  compare: "none",
  view: "table",
});
const write = (deed: string) => writer.write(spec(deed), new Date(0), { format: "csv" });
const failure = (deed: string) =>
  write(deed).then(
    () => "none",
    (error: unknown) => (error instanceof GatewayError ? error.type : "another"),
  );

describe("the thread that makes reports", () => {
  test("answers each report in the format asked for", async () => {
    open();
    expect(
      await Promise.all([write("ok"), writer.write(spec("ok"), new Date(0), { format: "json" })]),
    ).toEqual(["csv", "json"]);
  });

  test.each(["exit", "throw"])(
    "that dies by %s fails what waits for it, and is started again",
    async (deed) => {
      open();
      log.lines.length = 0;
      expect(await Promise.all([failure(deed), failure("slow")])).toEqual([
        "reports_unavailable",
        "reports_unavailable",
      ]);
      expect(log.lines.map(({ level }) => level)).toEqual(["error"]);
      expect(JSON.stringify(log.lines)).not.toContain("what went wrong inside");
      // Not at once: what killed it may kill it again.
      expect(await failure("ok")).toBe("reports_unavailable");
      await Bun.sleep(1_050);
      expect(await write("ok")).toBe("csv");
    },
  );

  test("takes 200 reports at once and refuses the next", async () => {
    open();
    const taken = Array.from({ length: 200 }, () => write("slow"));
    expect(await failure("ok")).toBe("overloaded");
    const last = writer.close();
    await Promise.allSettled(taken);
    await last;
  });

  test("makes few reports at once, and gives those up that nobody waits for", async () => {
    open();
    const gone = new AbortController();
    const [first, second] = [write("slow"), write("slow")];
    const third = writer.write(spec("exit"), new Date(0), { format: "csv", signal: gone.signal });
    const fourth = write("ok");
    gone.abort();
    expect(await third.catch((error: GatewayError) => error.type)).toBe("reports_unavailable");
    expect(await Promise.all([first, second, fourth])).toEqual(["slow", "slow", "csv"]);
  });

  test("is told when nobody waits any more for what it makes", async () => {
    open();
    const gone = new AbortController();
    const begun = writer.write(spec("slow"), new Date(0), { format: "csv", signal: gone.signal });
    await Bun.sleep(30);
    gone.abort();
    expect([await begun, await write("forgotten")]).toEqual(["slow", "[0]"]);
  });

  test("makes a payload in one order, and each report that is missing in it is in the log", async () => {
    open();
    log.lines.length = 0;
    const items = ["a", "b"].map((id) => ({ id, title: "", description: "", spec: spec("ok") }));
    const asked = { frame: { range: "7d", compare: "none" }, items } as const;
    expect(await writer.writeAll(asked, new Date(0), { gzip: false })).toBe("payload");
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual(
      Array(2).fill(["warn", "one of several reports failed"]),
    );
  });

  test("takes payloads by the number of their reports", async () => {
    open();
    const items = Array.from({ length: 48 }, () => ({
      id: "",
      title: "",
      description: "",
      spec: spec("ok"),
    }));
    const asked = { frame: { range: "7d", compare: "none" }, items } as const;
    const all = Array.from({ length: 5 }, () => writer.writeAll(asked, new Date(0), { gzip: false }));
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(4).fill("fulfilled"), "rejected"]);
  });

  test("tells an inner failure by its kind alone", async () => {
    open();
    expect(await failure("fail")).toBe("internal");
  });

  test("lets reports under way end before it is ended, and then takes none", async () => {
    open();
    const running = write("slow");
    const closed = writer.close();
    expect(await failure("ok")).toBe("reports_unavailable");
    expect(await running).toBe("slow");
    await closed;
  });
});
