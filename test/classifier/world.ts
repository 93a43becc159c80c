import { gatewayApp } from "#gateway/app.ts";
import { readGatewayConfig } from "#gateway/config.ts";
import { openDeps } from "#gateway/deps.ts";
import { keptLog, scratch } from "#test/support/embedded.ts";
import { testDatabase } from "#test/support/postgres.ts";

const ADMIN_KEY = "tga_of-the-classifier-suite-0000000";

/** Gateways on one database, in this process; nothing is opened on the network. */
export async function classifierWorld() {
  const database = await testDatabase();
  const closing: (() => Promise<void> | void)[] = [];
  const open = async () => {
    const place = scratch();
    const config = readGatewayConfig({
      DATABASE_URL: database.url,
      DATA_DIR: place.path,
      ADMIN_KEY,
      MASTER_KEY: "7".repeat(64),
    });
    const log = keptLog();
    const running = await openDeps(config, log);
    await running.begin();
    const whole = gatewayApp(running.deps);
    closing.unshift(running.close, place.remove);
    const ask = async (
      method: string,
      path: string,
      it: { secret?: string; body?: unknown; headers?: Record<string, string> } = {},
    ) => {
      const answer = await whole.handle(
        new Request(`http://127.0.0.1${path}`, {
          method,
          headers: { authorization: `Bearer ${it.secret ?? ADMIN_KEY}`, host: "127.0.0.1", ...it.headers },
          ...(it.body === undefined ? {} : { body: JSON.stringify(it.body) }),
        }),
      );
      const text = await answer.text();
      return { status: answer.status, text, json: text === "" ? null : JSON.parse(text) };
    };
    const admin = async (method: string, path: string, body?: unknown) => {
      const { status, text, json } = await ask(method, `/admin/v1${path}`, { body });
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
      return json;
    };
    return { ...running, place: place.path, log, ask, admin };
  };
  return {
    open,
    url: database.url,
    close: async () => {
      for (const close of closing) await close();
      await database.close();
    },
  };
}
