import { join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { readEnv } from "#shared/env.ts";
import { listenHost, optional, port, secret, text } from "#shared/env-forms.ts";
import { readSecretFile } from "#shared/secret-file.ts";
import { Secret } from "../../directory.ts";
import { type Login, readLogin } from "./login.ts";

export const isHttpUrl = (value: string): boolean => /^https?:\/\/[^\s?#]+$/.test(value);
const url = () => optional(text("an http or https URL", isHttpUrl));
const key = (accepts: string) => optional(secret(accepts, (value) => /^[!-~]{1,200}$/.test(value)));

const Reach = Type.Object({ TALLYGATE_URL: url(), TALLYGATE_KEY: key("a client key") });
const Place = Type.Object({ PUBLIC_URL: url(), HOST: listenHost(), PORT: port(8787) });
const Admin = Type.Object({
  ADMIN_KEY: key("the administrators' key"),
  DATA_DIR: text("a directory", () => true, ".tallygate"),
});
const App = Type.Object({ HOST: listenHost(), GITHUB_APP_PORT: port(8788) });

/** `host:port` of a listener as reached from this machine: an unspecified address cannot be connected to. */
export function reachable(host: string, port: number): string {
  if (host === "0.0.0.0") return `127.0.0.1:${port}`;
  if (host === "::") return `[::1]:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

const withoutSlash = (address: string): string => address.replace(/\/+$/, "");

/** The gateway's address: given, `TALLYGATE_URL`, or that of the gateway's settings. @throws ConfigurationError */
export function gatewayUrl(given: string | undefined): string {
  const named = given ?? readEnv(Reach).TALLYGATE_URL;
  if (named !== undefined) return withoutSlash(named);
  const { PUBLIC_URL, HOST, PORT } = readEnv(Place);
  return withoutSlash(PUBLIC_URL ?? `http://${reachable(HOST, PORT)}`);
}

/** The address of the GitHub App with these settings. @throws ConfigurationError */
export function githubAppUrl(given: string | undefined): string {
  if (given !== undefined) return withoutSlash(given);
  const { HOST, GITHUB_APP_PORT } = readEnv(App);
  return `http://${reachable(HOST, GITHUB_APP_PORT)}`;
}

/** Whether an option or `TALLYGATE_URL` names the gateway. @throws ConfigurationError */
export const isGatewayNamed = (given: string | undefined): boolean =>
  given !== undefined || readEnv(Reach).TALLYGATE_URL !== undefined;

/** The gateway that `TALLYGATE_URL` and `TALLYGATE_KEY` name; null: they do not. */
export function agentGateway(): { url: string; key: string } | null {
  const { TALLYGATE_URL, TALLYGATE_KEY } = readEnv(Reach);
  return TALLYGATE_URL && TALLYGATE_KEY ? { url: withoutSlash(TALLYGATE_URL), key: TALLYGATE_KEY } : null;
}

/** What `tallygate login` keeps, unless `TALLYGATE_KEY` is set or another gateway is named. */
export function loginFor(given: string | undefined): Login | null {
  const { TALLYGATE_URL, TALLYGATE_KEY } = readEnv(Reach);
  if (TALLYGATE_KEY !== undefined) return null;
  const named = given ?? TALLYGATE_URL;
  const login = readLogin();
  return login && (named === undefined || withoutSlash(named) === login.url) ? login : null;
}

/** A person's gateway and key: the given address and `TALLYGATE_KEY` (`isGiven`), else the login's; null: none. */
export function clientGateway(
  given: string | undefined,
): { url: string; key: Secret; isGiven: boolean } | null {
  const { TALLYGATE_KEY } = readEnv(Reach);
  if (TALLYGATE_KEY !== undefined)
    return { url: gatewayUrl(given), key: new Secret(TALLYGATE_KEY), isGiven: true };
  const login = loginFor(given);
  return login && { url: login.url, key: new Secret(login.key), isGiven: false };
}

/** The admin key: `ADMIN_KEY`, else the one in `DATA_DIR`, else null. */
export function readAdminKey(): Secret | null {
  const { ADMIN_KEY, DATA_DIR } = readEnv(Admin);
  const found = ADMIN_KEY ?? readSecretFile(join(resolve(DATA_DIR), "admin-key"));
  return found ? new Secret(found) : null;
}
