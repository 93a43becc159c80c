import { expect, test } from "bun:test";
import { answerDone } from "#test/limits/cent-vendor.ts";
import { callOnce } from "#test/limits/world.ts";
import { scratch } from "#test/support/embedded.ts";
import { startGateway } from "#test/support/gateway-process.ts";
import { scriptedUpstream } from "#test/support/scripted-upstream.ts";
import { until } from "#test/support/until.ts";

const place = scratch();

/** Standard input, output and errors: whatever number a closed file has left free, it may not be used again. */
const NONE_LEFT = 3;
const ENOUGH = 4096;

test.if(process.platform === "linux")(
  "a gateway that may open no further file says so, records it, and goes on",
  async () => {
    const upstream = await scriptedUpstream((request, reply) =>
      answerDone(request, reply, { connection: "close" }),
    );
    const gateway = await startGateway({ dataDir: place.path });
    await gateway.admin("PUT", "/providers/one", {
      kind: "openai-compatible",
      base_url: `${upstream.url}/v1`,
      allow_private_network: true,
      models: ["model-one"],
    });
    const { secret } = await gateway.admin<{ secret: string }>("POST", "/keys", { name: "ada" });
    const limitFiles = (files: number) =>
      expect(Bun.spawnSync(["prlimit", "--pid", `${gateway.pid()}`, `--nofile=${files}:`]).exitCode).toBe(0);
    const call = () => callOnce(gateway.url, secret, { model: "model-one" });

    // Not one call came before: the first one must not end the process either.
    limitFiles(NONE_LEFT);
    for (let calls = 1; calls <= 4; calls++) {
      expect(await call()).toMatchObject({
        status: 502,
        code: "upstream_unreachable",
        message: expect.stringContaining("cause file_limit"),
      });
    }
    limitFiles(ENOUGH);
    // The provider was not to blame, so it is asked at once.
    expect((await call()).status).toBe(200);
    const records = () =>
      gateway.admin<{ data: { state: string; error_cause: string | null }[] }>("GET", "/requests");
    await until(async () => (await records()).data.length === 5);
    const causes = (await records()).data.map(({ state, error_cause }) => [state, error_cause]);
    expect(causes).toEqual([["ok", null], ...Array(4).fill(["upstream_error", "file_limit"])]);
  },
);
