import { urlOf } from "./address.ts";
import { isServerAlive, readPidFile } from "./pid-file.ts";
import { choosePlace, passwordOf } from "./place.ts";
import { DATABASE } from "./supervisor.ts";

/** The address of the database that runs on the files of `dataDirectory` (absolute); null if none does. */
export function runningDatabase(dataDirectory: string): string | null {
  const place = choosePlace(dataDirectory);
  const file = readPidFile(place.data);
  if (!file?.address || !isServerAlive(place.data, file.pid)) return null;
  return urlOf(file.address, passwordOf(place), DATABASE);
}
