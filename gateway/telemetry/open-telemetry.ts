import type { RequestRow } from "#drizzle/schema/records.ts";
import type { Telemetry, TelemetrySettings } from "./telemetry.ts";

export const OFF: Telemetry = { carry: () => ({}), ended: () => undefined, close: async () => undefined };

/** Nothing is loaded, begun or sent without settings. `onFault`: a batch was not exported. */
export async function openTelemetry(
  settings: TelemetrySettings | null,
  onFault: (error: unknown) => void,
): Promise<Telemetry> {
  if (settings === null) return OFF;
  const { startExport } = await import("./export.ts");
  return startExport(settings, onFault);
}

/** The recorder, with the end of every call reported. */
export const withTelemetry = <Recorder extends { settle(row: RequestRow): Promise<void> }>(
  recorder: Recorder,
  telemetry: Pick<Telemetry, "ended">,
): Recorder => ({
  ...recorder,
  settle(row) {
    telemetry.ended(row);
    return recorder.settle(row);
  },
});
