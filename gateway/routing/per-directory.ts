import type { Directory } from "../directory.ts";

/** Caches `make` per directory, which is safe because directories are immutable. */
export function cachedPerDirectory<T>(make: (directory: Directory) => T): (directory: Directory) => T {
  const found = new WeakMap<Directory, { it: T }>();
  return (directory) => {
    const known = found.get(directory);
    if (known) return known.it;
    const it = make(directory);
    found.set(directory, { it });
    return it;
  };
}
