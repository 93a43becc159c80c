import { readFileSync, statSync } from "node:fs";

/** The system user that Postgres runs as when this process is root, which Postgres refuses to be. */
export type SystemUser = { uid: number; gid: number; name: string };

/**
 * Null unless this process is root. Else the owner of `dataDirectory` if that exists and is not root's; else
 * `postgres`; else `nobody`; else a new system user `tallygate`. Postgres needs a user with an entry in
 * /etc/passwd, so an unused id is not enough.
 */
export function chooseUser(dataDirectory: string): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readUsers();
  const owner = statSync(dataDirectory, { throwIfNoEntry: false })?.uid;
  const chosen =
    users.find((user) => user.uid === owner && user.uid !== 0) ??
    users.find((user) => user.name === "postgres" && user.uid !== 0) ??
    users.find((user) => user.name === "nobody" && user.uid !== 0) ??
    makeUser();
  if (chosen === undefined) {
    throw new Error(
      "Postgres refuses to run as root, and no other user exists here. Start as an ordinary user, or set DATABASE_URL.",
    );
  }
  return chosen;
}

/** What `Bun.spawn` takes to start a process as that user. */
export const asUser = (account: SystemUser | null): { uid?: number; gid?: number } =>
  account === null ? {} : { uid: account.uid, gid: account.gid };

function readUsers(): SystemUser[] {
  try {
    return parsePasswd(readFileSync("/etc/passwd", "utf8"));
  } catch {
    return [];
  }
}

/** The users of a passwd(5) file; other lines are skipped. */
export function parsePasswd(text: string): SystemUser[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (!name || !uid || !gid || !/^\d+$/.test(uid) || !/^\d+$/.test(gid)) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

function makeUser(): SystemUser | undefined {
  const useradd = Bun.which("useradd", { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" });
  if (useradd === null) return undefined;
  Bun.spawnSync([useradd, "--system", "--no-create-home", "--user-group", "tallygate"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return readUsers().find((user) => user.name === "tallygate");
}
