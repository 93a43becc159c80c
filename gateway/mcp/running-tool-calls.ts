/** Request ids are unique only within a client's session. */
export type RunningId = { keyId: string; session: string | null; requestId: unknown };

export type RunningToolCalls = {
  /** `signal` aborts when the client cancels the call; `leave` must be called at its end. */
  enter(id: RunningId): { signal: AbortSignal; leave(): void } | null;
  cancel(id: RunningId): void;
};

/**
 * Calls in progress, so that clients of older revisions can cancel one by a message. Only within a labelled session, since
 * two clients of one key use the same request numbers, and only on the replica that runs the call.
 */
export function runningToolCalls(): RunningToolCalls {
  // If something long-lived retains the entry (see upstream/watchdog.ts), it retains only an empty box.
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
