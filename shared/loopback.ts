type Environment = Readonly<Record<string, string | undefined>>;

const PROXIES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];

/** Whether the environment names a proxy, which Bun's `fetch` then uses. */
export const namesProxy = (env: Environment = process.env): boolean =>
  PROXIES.some((name) => env[name]?.trim());

/** Whether a host, as in an address or alone, is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** This machine's names for itself. */
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** Makes requests to this machine, and to `hosts`, bypass the proxy in the environment. Children inherit it. */
export function reachDirectly(
  hosts: readonly string[] = [],
  env: Record<string, string | undefined> = process.env,
): void {
  if (!namesProxy(env)) return;
  const { no_proxy: lower, NO_PROXY: upper } = env;
  const besides = (named: string | undefined) =>
    [...new Set([...(named ?? "").split(",").filter(Boolean), ...LOOPBACK, ...hosts])].join(",");
  env["no_proxy"] = besides(lower || upper);
  env["NO_PROXY"] = besides(upper || lower);
}
