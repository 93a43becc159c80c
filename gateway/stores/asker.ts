/** Whether `look` succeeds; concurrent callers share one look, so that probes do not pile up. */
export function asker(look: () => Promise<unknown>): () => Promise<boolean> {
  let asked: Promise<boolean> | null = null;
  return () => {
    asked ??= look()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asked = null;
      });
    return asked;
  };
}
