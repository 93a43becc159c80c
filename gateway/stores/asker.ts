/** Whether `look` succeeds; all who ask while one is under way share it, so that probes pile up nowhere. */
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
