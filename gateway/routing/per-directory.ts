import type { Directory } from "../directory.ts";

/** What `make` finds in a directory, found once: a directory is never changed in place, a change makes a new one. */
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
