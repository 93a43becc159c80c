import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readLauncherConfig, SETTING_NAMES } from "#gateway/config.ts";
import { GithubAppEnv } from "#shared/github-app-config.ts";
import { scratch } from "#test/support/embedded.ts";

const ROOT = join(import.meta.dir, "../..");
const DEPLOY = join(ROOT, "gateway/deploy");

describe("compose.yaml", async () => {
  type Service = { environment: Record<string, string>; secrets: string[]; volumes: string[] };
  const compose: { services: Record<string, Service>; secrets: object; volumes: object } = parse(
    await Bun.file(join(DEPLOY, "compose.yaml")).text(),
  );

  test("sets nothing but settings, and its secrets and volumes are declared and used", () => {
    const names = Object.keys(compose.services["tallygate"]?.environment ?? {});
    const unknown = names
      .map((name) => name.replace(/_FILE$/, ""))
      .filter((name) => ![...SETTING_NAMES, ...Object.keys(GithubAppEnv.properties)].includes(name));
    expect(unknown).toEqual([]);
    const services = Object.values(compose.services);
    expect(services.flatMap(({ secrets }) => secrets).toSorted()).toEqual(
      Object.keys(compose.secrets).toSorted(),
    );
    const named = services.flatMap(({ volumes }) => volumes.map((it) => it.split(":")[0] ?? ""));
    expect(named.toSorted()).toEqual(Object.keys(compose.volumes).toSorted());
    for (const { environment, secrets } of services) {
      const files = Object.values(environment).flatMap((it) => /^\/run\/secrets\/(.+)$/.exec(it)?.[1] ?? []);
      expect(files.toSorted()).toEqual(secrets.toSorted());
    }
  });
});

test.each([
  ["compose.yaml", /stop_grace_period: (\d+)s/],
  ["README.md", /--stop-timeout (\d+)/],
  ["tallygate.service", /TimeoutStopSec=(\d+)/],
])("by %s a stop has time for running calls, and for a Postgres that hangs", async (file, limit) => {
  const seconds = Number(limit.exec(await Bun.file(join(DEPLOY, file)).text())?.[1]);
  // How long the signals of the embedded one's end may take.
  expect(seconds).toBeGreaterThan(readLauncherConfig({}).stopSecondsMax + 13);
});

const analyze = Bun.which("systemd-analyze");
if (analyze === null) console.error("systemd-analyze is not installed, so the unit is not verified");

describe.if(analyze !== null)("tallygate.service", () => {
  const run = (...words: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([analyze ?? "", ...words], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { exitCode, said: `${stdout}${stderr}` };
  };

  test("is a unit without faults", async () => {
    const file = join(scratch().path, "tallygate.service");
    const unit = await Bun.file(join(DEPLOY, "tallygate.service")).text();
    // What it starts is not installed here.
    writeFileSync(file, unit.replaceAll("/usr/local/bin/bun", process.execPath));
    const { exitCode, said } = run("verify", "--man=no", file);
    expect(said.split("\n").filter((line) => line.includes("tallygate.service"))).toEqual([]);
    expect(exitCode).toBe(0);
  });

  test("is confined: systemd's own measure is at most 2 of 10", () => {
    const { exitCode, said } = run(
      "security",
      "--offline=true",
      "--threshold=20",
      join(DEPLOY, "tallygate.service"),
    );
    expect([exitCode, said.split("\n").at(-2)]).toEqual([0, expect.stringContaining("exposure level")]);
  });
});
