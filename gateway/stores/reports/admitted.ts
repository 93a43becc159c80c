import { GatewayError } from "../../errors.ts";

/** Reports running and waiting at once; more than any page asks for. */
const RUNS_MAX = 200;

type Read<Ask> = <T>(work: (ask: Ask) => Promise<T>) => Promise<T>;

/** Runs at most so many reports of a database at once, and translates failures that may pass. */
export function admitted<Ask>(isUnavailable: (error: unknown) => boolean, read: Read<Ask>): Read<Ask> {
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
