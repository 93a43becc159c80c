import type { AppIdentity } from "./octokit.ts";

/** Runs what belongs to one identity, and begins anew when it becomes another. */
export function followIdentity(
  identity: () => AppIdentity | null,
  start: (it: AppIdentity) => { stop(): Promise<void> },
) {
  let key = "";
  let running: { stop(): Promise<void> } | null = null;
  const stop = async () => {
    await running?.stop();
    running = null;
  };
  return {
    look: async () => {
      const it = identity();
      const itsKey = it === null ? "" : JSON.stringify(it);
      if (itsKey === key) return;
      key = itsKey;
      await stop();
      running = it && start(it);
    },
    stop,
  };
}
