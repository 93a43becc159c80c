import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readPresent } from "#shared/env.ts";

/** Where the system keeps a user's settings; variables that name no absolute directory do not count. */
function settingsDirectory(): string {
  const named = (name: string): string | null => {
    const value = readPresent([name]).get(name);
    return value !== undefined && isAbsolute(value) ? value : null;
  };
  if (process.platform === "win32") return named("APPDATA") ?? join(homedir(), "AppData/Roaming");
  if (process.platform === "darwin") return join(homedir(), "Library/Application Support");
  return named("XDG_CONFIG_HOME") ?? join(homedir(), ".config");
}

/** Where `tallygate` keeps its own. */
export const ownDirectory = (): string => join(settingsDirectory(), "tallygate");
