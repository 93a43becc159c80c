import { availableParallelism } from "node:os";
import { text } from "#shared/env-forms.ts";

/** Each has a thread for reports and a dozen connections to Postgres. */
const WORKERS_MAX = 64;

/** `WORKERS`: how many processes the gateway is. */
export const workersSetting = () =>
  text(`auto, or a number of processes from 1 to ${WORKERS_MAX}`, isWorkers, "1");

function isWorkers(value: string): boolean {
  return value === "auto" || (/^\d{1,2}$/.test(value) && Number(value) >= 1 && Number(value) <= WORKERS_MAX);
}

/** `auto` leaves one core to Postgres and the GitHub App. */
export const workersOf = (setting: string, cores = availableParallelism()): number =>
  setting === "auto" ? Math.min(WORKERS_MAX, Math.max(1, cores - 1)) : Number(setting);
