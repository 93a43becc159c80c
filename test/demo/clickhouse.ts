import { openClickHouse } from "#gateway/stores/clickhouse/client.ts";

/** A database of the demo's own. */
export type OwnDatabase = { url: string; drop(): Promise<void> };

/**
 * Makes an empty database beside the one that the address names, so that the demo's records never reach that one.
 * @throws if ClickHouse does not answer or its user may not create databases
 */
export async function makeOwnDatabase(address: string): Promise<OwnDatabase> {
  const name = `tallygate_demo_${crypto.getRandomValues(new Uint8Array(6)).toHex()}`;
  const command = async (query: string) => {
    const client = openClickHouse(address, { name: "demo", timeoutMs: 30_000, connectionsMax: 1 });
    await client.command({ query }).finally(() => client.close());
  };
  await command(`create database ${name}`);
  const url = new URL(address);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => command(`drop database if exists ${name}`) };
}
