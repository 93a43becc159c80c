import type { RequestRow } from "#drizzle/schema/records.ts";
import { isPublicUrl, optional, secret, text } from "#shared/env-forms.ts";
import type { HeaderView } from "../call.ts";

/** Where traces and metrics of calls go. */
export type TelemetrySettings = {
  /** The collector's base URL; `/v1/traces` and `/v1/metrics` are added. */
  endpoint: string;
  /** For every export, such as a collector's credential. */
  headers: Record<string, string>;
  serviceName: string;
};

export type Telemetry = {
  /** Begins the call's span, and returns the headers that continue its trace at the provider. */
  carry(call: { id: string; headers: HeaderView }): Record<string, string>;
  /** Ends the call's span and counts the call. No text of a prompt or an answer is in a row. */
  ended(row: RequestRow): void;
  /** Exports what is left. */
  close(): Promise<void>;
};

const HEADERS = /^[\w-]+=[^,]*(,[\w-]+=[^,]*)*$/;

export const TELEMETRY_ENV = {
  TELEMETRY_ENDPOINT: optional(text("an http or https URL without a query", isPublicUrl)),
  TELEMETRY_HEADERS: optional(secret("headers as name=value,name=value", (value) => HEADERS.test(value))),
  TELEMETRY_SERVICE_NAME: text("a name", () => true, "tallygate"),
};

type Values = {
  TELEMETRY_ENDPOINT?: string;
  TELEMETRY_HEADERS?: string;
  TELEMETRY_SERVICE_NAME: string;
};

/** Null without an endpoint: nothing is exported. */
export function telemetryOf(values: Values): TelemetrySettings | null {
  if (values.TELEMETRY_ENDPOINT === undefined) return null;
  const headers: Record<string, string> = {};
  for (const pair of values.TELEMETRY_HEADERS?.split(",") ?? []) {
    const end = pair.indexOf("=");
    headers[pair.slice(0, end)] = pair.slice(end + 1);
  }
  const endpoint = values.TELEMETRY_ENDPOINT.replace(/\/+$/, "");
  return { endpoint, headers, serviceName: values.TELEMETRY_SERVICE_NAME };
}
