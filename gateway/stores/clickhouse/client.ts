import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";

type Options = {
  /** Shown in ClickHouse's list of queries. */
  name: string;
  /** A request that takes longer fails. */
  timeoutMs: number;
  /** Requests at once. */
  connectionsMax: number;
};

export const askClickHouse = async <Row = unknown>(client: ClickHouseClient, query: string): Promise<Row[]> =>
  await (await client.query({ query, format: "JSONEachRow" })).json<Row>();

/**
 * A client for the address `http(s)://user:password@host:8123/database`; it connects when it is first used. Instants are read
 * as RFC 3339. Decimals and 64-bit integers come as texts, because a JSON number is a float. The client logs nothing: its
 * messages contain settings and texts of statements.
 * @throws TypeError for an address that cannot be parsed; the message does not contain it.
 */
export function openClickHouse(
  address: string,
  { name, timeoutMs, connectionsMax }: Options,
): ClickHouseClient {
  const url = URL.parse(address);
  if (url === null) throw new TypeError("The address of ClickHouse is not a URL.");
  return createClient({
    url: url.origin,
    username: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || "default",
    application: `tallygate ${name}`,
    request_timeout: timeoutMs,
    max_open_connections: connectionsMax,
    compression: { request: true, response: true },
    // Addresses have a greatest length, and lists of values may be long.
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      date_time_input_format: "best_effort",
      output_format_json_quote_decimals: 1,
      output_format_json_quote_64bit_integers: 1,
    },
  });
}
