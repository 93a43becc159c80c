/** Whose call it is: ids of requests are unique within a client's session only. */
export type RunningId = { keyId: string; session: string | null; requestId: unknown };

export type Running = {
  /** Aborted when the client cancels the call; the call must be left when it is over. */
  enter(id: RunningId): { signal: AbortSignal; leave(): void } | null;
  cancel(id: RunningId): void;
};

/**
 * The calls under way, so that a client of the older revisions can cancel one by a message of its own: it does not hang
 * up then. Only within a labelled session, since two clients of one key number their requests alike, and only where the
 * message comes to the replica that has the call; elsewhere the call goes on to its end.
 */
export function runningCalls(): Running {
  // What stays of a call behind a Map that lives long (see upstream/watchdog.ts) is then but an empty box.
  const calls = new Map<string, { controller: AbortController | null }>();
  const nameOf = ({ keyId, session, requestId }: RunningId) => JSON.stringify([keyId, session, requestId]);
  return {
    enter(id) {
      if (id.session === null) return null;
      const name = nameOf(id);
      const controller = new AbortController();
      const box: { controller: AbortController | null } = { controller };
      calls.set(name, box);
      const leave = () => {
        if (calls.get(name) === box) calls.delete(name);
        box.controller = null;
      };
      return { signal: controller.signal, leave };
    },
    cancel(id) {
      if (id.session !== null) calls.get(nameOf(id))?.controller?.abort();
    },
  };
}
