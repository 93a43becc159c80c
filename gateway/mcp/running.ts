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
  const calls = new Map<string, AbortController>();
  const nameOf = ({ keyId, session, requestId }: RunningId) => JSON.stringify([keyId, session, requestId]);
  return {
    enter(id) {
      if (id.session === null) return null;
      const name = nameOf(id);
      const controller = new AbortController();
      calls.set(name, controller);
      const leave = () => {
        if (calls.get(name) === controller) calls.delete(name);
      };
      return { signal: controller.signal, leave };
    },
    cancel(id) {
      if (id.session !== null) calls.get(nameOf(id))?.abort();
    },
  };
}
