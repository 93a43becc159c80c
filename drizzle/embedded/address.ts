import { createHmac } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROLE, SUPERUSER } from "./initialise.ts";
import type { SystemUser } from "./system-user.ts";

/** Where a server listens: a Unix socket that only its own user and root reach, or a port of the loopback address. */
export type Address = { kind: "socket"; directory: string } | { kind: "tcp"; port: number };

/** Linux takes 107 bytes in a socket's path, macOS 103. */
const SOCKET_PATH_MAX = 103;

/** A socket in `home`, or where that path is too long in a new directory below `temporary`, or a free port. */
export async function chooseAddress(
  home: string,
  account: SystemUser | null,
  temporary = tmpdir(),
): Promise<Address> {
  if (process.platform === "win32") return { kind: "tcp", port: await freePort() };
  const near = join(home, "run");
  if (fitsSocket(near)) {
    mkdirSync(near, { recursive: true });
    return { kind: "socket", directory: giveTo(account, near) };
  }
  if (fitsSocket(join(temporary, "tallygate-XXXXXX"))) {
    return { kind: "socket", directory: giveTo(account, mkdtempSync(join(temporary, "tallygate-"))) };
  }
  return { kind: "tcp", port: await freePort() };
}

const fitsSocket = (directory: string): boolean =>
  Buffer.byteLength(join(directory, ".s.PGSQL.5432")) <= SOCKET_PATH_MAX;

function giveTo(account: SystemUser | null, directory: string): string {
  if (account !== null) chownSync(directory, account.uid, account.gid);
  chmodSync(directory, 0o700);
  return directory;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** The database inside the cluster. */
const DATABASE = "tallygate";

/** The address for the role that owns the database. `password` is the superuser's. */
export const urlOf = (address: Address, password: string): string =>
  addressFor(address, { role: ROLE, password: rolePassword(password), database: DATABASE });

/** The address for the superuser. */
export const superuserUrlOf = (address: Address, password: string): string =>
  addressFor(address, { role: SUPERUSER, password, database: "postgres" });

/** Creates everything that `urlOf` needs; run by the superuser. */
export const ownership = (password: string) => ({
  role: { name: ROLE, create: `create role ${ROLE} login password '${rolePassword(password)}'` },
  database: { name: DATABASE, create: `create database ${DATABASE} owner ${ROLE}` },
});

/** Derived, so that one file holds all secrets; the superuser's password cannot be guessed from it. */
const rolePassword = (password: string): string =>
  createHmac("sha256", password).update(`role ${ROLE}`).digest("hex").slice(0, 48);

type Login = { role: string; password: string; database: string };

function addressFor(address: Address, { role, password, database }: Login): string {
  return address.kind === "socket"
    ? `postgres://${role}:${password}@localhost/${database}?host=${encodeURIComponent(address.directory)}`
    : `postgres://${role}:${password}@127.0.0.1:${address.port}/${database}`;
}

/** Server options that make it listen there. */
export function listenFlags(address: Address): Record<string, string> {
  return address.kind === "socket"
    ? {
        listen_addresses: "",
        port: "5432",
        // A list of directories: the quotes keep a comma in the path from splitting it.
        unix_socket_directories: `"${address.directory.replaceAll('"', '""')}"`,
        unix_socket_permissions: "0700",
      }
    : { listen_addresses: "127.0.0.1", port: String(address.port), unix_socket_directories: "" };
}
