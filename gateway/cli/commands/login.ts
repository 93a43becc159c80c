import { hostname } from "node:os";
import type { Command } from "commander";
import { readPresent } from "#shared/env.ts";
import { type Login, loginFile, readLogin, removeLogin, writeLogin } from "../client/login.ts";
import { beginSignIn, EXPIRED, type Poll, pollSignIn, revokeAt } from "../client/oauth.ts";
import { gatewayUrl, isGatewayNamed } from "../client/settings.ts";
import { print, printNote, URL_OPTION } from "./common.ts";

type Options = { url?: string; browser: boolean };

export const addLogin = (program: Command) =>
  program
    .command("login")
    .description("Sign in on this computer and get a client key of your own for the other commands.")
    .option("--no-browser", "print the address without opening a browser")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((options: Options) => login(options));

const HELP = `
Prints a code and the address of the gateway's page where you approve it, and waits. The key is named after this
computer, appears on that gateway under My keys, and is stored in your system's settings directory, readable only by you.
TALLYGATE_URL and TALLYGATE_KEY take precedence if set.

  tallygate login --url https://llm.example.com
  tallygate run -- claude`;

async function login(options: Options): Promise<void> {
  const former = formerLogin();
  const isNamed = isGatewayNamed(options.url);
  const url = isNamed || former === null ? gatewayUrl(options.url) : former.url;
  const codes = await beginSignIn(url, hostname());
  print(`Open ${codes.verification_uri_complete}`);
  print(`and approve it if it shows this code: ${codes.user_code}`);
  if (options.browser) openPage(codes.verification_uri_complete);
  const { key, email } = await untilApproved(url, codes);
  writeLogin({ url, key, email });
  print(`Signed in${email === null ? "" : ` as ${email}`} at ${url}. The key is in ${loginFile()}.`);
  if (former) await endFormer(former);
}

/** A damaged file is replaced. */
function formerLogin(): Login | null {
  try {
    return readLogin();
  } catch {
    return null;
  }
}

type Waiting = { device_code: string; expires_in: number; interval: number };

/** @throws Error once the code is refused or over. */
async function untilApproved(url: string, codes: Waiting): Promise<Exclude<Poll, string>> {
  const endsAtMs = performance.now() + codes.expires_in * 1000;
  for (let seconds = codes.interval; performance.now() < endsAtMs; ) {
    await Bun.sleep(seconds * 1000);
    const poll = await pollSignIn(url, codes.device_code);
    if (typeof poll !== "string") return poll;
    // RFC 8628, 3.5.
    if (poll === "slow_down") seconds += 5;
  }
  throw new Error(EXPIRED);
}

/** The key before this one would otherwise stay valid, and nobody would have it. */
async function endFormer({ url, key }: Login): Promise<void> {
  if (await revokeAt(url, key)) return;
  printNote(
    `the previous key could not be revoked at ${url}. Revoke the one that ends in ${key.slice(-4)} there.`,
  );
}

/** Each system's program that opens a page in the user's browser. */
function openerOf(platform: NodeJS.Platform): string[] | null {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  // Without a screen there is no browser, and some openers would start one in the terminal.
  return readPresent(["DISPLAY", "WAYLAND_DISPLAY"]).size > 0 ? ["xdg-open"] : null;
}

/** Tries to open a web page in the user's browser; the user has the address if nothing opens. */
function openPage(address: string): void {
  const url = URL.parse(address);
  const opener = openerOf(process.platform);
  if (opener === null || url === null || !/^https?:$/.test(url.protocol)) return;
  const [program = "", ...words] = opener;
  const path = Bun.which(program);
  if (path === null) return;
  Bun.spawn([path, ...words, url.href], { stdio: ["ignore", "ignore", "ignore"] }).unref();
}

export const addLogout = (program: Command) =>
  program
    .command("logout")
    .description("Revoke the key of `tallygate login` and delete it from this computer.")
    .addHelpText(
      "after",
      "\nIf the gateway does not answer, the key is deleted here and the exit status is 1.",
    )
    .action(async () => {
      process.exitCode = await logout();
    });

async function logout(): Promise<number> {
  const login = readLogin();
  if (login === null) {
    printNote("you are not logged in on this computer.");
    return 0;
  }
  const { url, key, email } = login;
  const isRevoked = await revokeAt(url, key);
  removeLogin();
  if (isRevoked) {
    print(`Logged out of ${url}. The key${email === null ? "" : ` of ${email}`} is revoked.`);
    return 0;
  }
  print("The key is deleted from this computer.");
  printNote(
    `${url} did not revoke it, so it is still valid. Revoke the one that ends in ${key.slice(-4)}:\n${url}/me`,
  );
  return 1;
}

export const addKey = (program: Command) =>
  program
    .command("key")
    .description("Print the client key of `tallygate login`, for agents that ask a command for their key.")
    .option("--url <url>", "print it only if it belongs to this gateway")
    .addHelpText(
      "after",
      "\n`tallygate install` writes this command into the settings of Claude Code and Codex.",
    )
    .action(({ url }: { url?: string }) => {
      const login = readLogin();
      if (login === null) throw new Error("This computer is not signed in. Run `tallygate login`.");
      if (url !== undefined && url !== login.url) {
        throw new Error(
          `This computer is signed in at ${login.url}, not at ${url}. Run \`tallygate install\`.`,
        );
      }
      print(login.key);
    });
