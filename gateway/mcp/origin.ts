import { isLoopback } from "#shared/loopback.ts";
import { RPC, RpcError } from "./json-rpc.ts";

/** Refuses foreign pages (DNS rebinding). No page sends requests without `Origin`. @throws RpcError, status 403 */
export function requireOwnOrigin(
  headers: Headers,
  { publicUrl, allowedHosts }: { publicUrl: string | null; allowedHosts: readonly string[] | null },
): void {
  const origin = headers.get("origin");
  if (origin === null) return;
  const host = URL.parse(origin)?.hostname.toLowerCase() ?? "";
  const own = publicUrl === null ? null : URL.parse(publicUrl)?.hostname.toLowerCase();
  if (isLoopback(host) || (host !== "" && host === own) || allowedHosts?.includes(host)) return;
  throw new RpcError(RPC.invalidRequest, "Pages of another origin may not call tools here.", 403);
}
