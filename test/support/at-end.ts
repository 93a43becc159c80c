type Close = () => unknown;

const ofFile: Close[] = [];
let ofTest: Close[] | null = null;

/**
 * Runs `close` when the current test ends, also when it fails or reaches its time limit; outside a test (at the top of
 * a file or in `beforeAll`), when the file ends. What was registered last is closed first. The function returned closes
 * early; it does nothing the second time.
 */
export function atEnd<Result>(close: () => Result): () => Result {
  let closed: { result: Result } | null = null;
  const once = () => {
    closed ??= { result: close() };
    return closed.result;
  };
  (ofTest ?? ofFile).push(once);
  return once;
}

/** Begins a test. */
export function beginTest(): void {
  ofTest = [];
}

/** Closes what was registered since `beginTest`. */
export async function endTest(): Promise<void> {
  const registered = ofTest ?? [];
  ofTest = null;
  await closeAll(registered);
}

/** Closes what was registered outside tests. */
export const endFile = (): Promise<void> => closeAll(ofFile);

/** Closes all of them, even if one throws; then throws the first error. */
async function closeAll(registered: Close[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of registered.splice(0).reverse()) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
