import type { Db } from "#drizzle/database.ts";
import type { Provider } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import type { ExchangeDeps } from "../exchange.ts";
import type { Recorder } from "../recorder/recorder.ts";
import type { ProviderApi } from "../upstream/provider-api.ts";

export type BatchDeps = Pick<
  ExchangeDeps,
  | "clock"
  | "log"
  | "directory"
  | "prices"
  | "recorder"
  | "watchdog"
  | "patience"
  | "classify"
  | "consult"
  | "guardrailTriggered"
  | "limiter"
  | "refersToForeign"
> & {
  database: Db;
  recorder: Pick<Recorder, "accepting">;
  providerApi: ProviderApi;
  bytesMax: { json: number; multipart: number };
  /** URL at which clients reach the gateway, without a trailing slash; null: taken from the request. */
  publicUrl: string | null;
  /** Batches whose cost is being recorded by this process, by id. */
  reconciling: Map<string, Promise<void>>;
};

/** @throws GatewayError provider_unconfigured if an administrator has removed it. */
export function providerNamed({ directory }: Pick<BatchDeps, "directory">, name: string): Provider {
  const provider = directory.current().providers.get(name);
  if (!provider) throw new GatewayError("provider_unconfigured");
  return provider;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Another key's object gets the same answer as a missing one. */
type KeptAtVendor = "file" | "batch" | "response";

export const notFoundAtVendor = (what: KeptAtVendor): GatewayError =>
  new GatewayError("not_found", `No such ${what}.`);

/** Ids become part of provider URLs, so they must look like ids. @throws GatewayError not_found */
export function requireProviderId(id: unknown, what: KeptAtVendor): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw notFoundAtVendor(what);
}
