import type { RequestRow } from "#drizzle/schema/records.ts";
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
