/** Runs of what it is given `atOnce` at a time, in order. */
export function turns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running === atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      // The turn goes to who waits, or is free.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
