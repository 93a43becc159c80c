import { useSyncExternalStore } from "react";

/** A value outside of React that components follow. */
export function newStore<T>(initial: T) {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: (): T => value,
    set(next: T): void {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    listen(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export const useStore = <T>({ listen, get }: ReturnType<typeof newStore<T>>): T =>
  useSyncExternalStore(listen, get);
