import { isPublicUrl, optional, secret, text } from "#shared/env-forms.ts";
import type { TelemetrySettings } from "./telemetry.ts";

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
