/** What `look` finds; null if it fails. Concurrent callers share one look, so that probes do not pile up. */
export function asker<T>(look: () => Promise<T>): () => Promise<T | null> {
  let asked: Promise<T | null> | null = null;
  return () => {
    asked ??= look()
      .catch(() => null)
      .finally(() => {
        asked = null;
      });
    return asked;
  };
}
