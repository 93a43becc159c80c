import { type ProgressState, progressDisplay } from "../print/progress.ts";
import { ApiError } from "./api.ts";

export type Following<State> = {
  read(): Promise<State>;
  isDone(state: State): boolean;
  progressOf(state: State): ProgressState;
  /** Show nothing. */
  silent: boolean;
};

const POLL_MS = 1000;
/** A gateway that restarts is back before; its work goes on then. */
const AWAY_POLLS_MAX = 300;

/**
 * Shows work of the gateway until it is done. While the gateway is away, it waits for five minutes.
 * @throws ApiError
 */
export async function follow<State>({ read, isDone, progressOf, silent }: Following<State>): Promise<State> {
  const display = progressDisplay({ silent });
  let away = 0;
  try {
    for (;;) {
      const state = await read().catch((error: unknown) => {
        away += 1;
        if (!isAway(error) || away > AWAY_POLLS_MAX) throw error;
        return null;
      });
      if (state !== null) {
        away = 0;
        display.show(progressOf(state));
        if (isDone(state)) return state;
      }
      await Bun.sleep(POLL_MS);
    }
  } finally {
    display.end();
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === null || error.status >= 500);
