import { GatewayError } from "../../errors.ts";
import type { ReportStore } from "./report-store.ts";

/** Reports running and waiting at once; more than any page asks for. */
const RUNS_MAX = 200;

/** Runs at most so many reports of a database at once, and translates failures that may pass. */
export function admitted(
  isUnavailable: (error: unknown) => boolean,
  read: ReportStore["snapshot"],
): ReportStore["snapshot"] {
  let runs = 0;
  return async (work) => {
    if (runs >= RUNS_MAX) throw new GatewayError("overloaded");
    runs++;
    try {
      return await read(work);
    } catch (error) {
      throw isUnavailable(error) ? new GatewayError("store_unavailable", undefined, error) : error;
    } finally {
      runs--;
    }
  };
}
