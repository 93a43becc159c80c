import { hostname } from "node:os";
import type { Command } from "commander";
import { type Login, loginFile, readLogin, writeLogin } from "../client/login.ts";
import { beginSignIn, EXPIRED, type Poll, pollSignIn, revokeAt } from "../client/oauth.ts";
import { openPage } from "../client/open-page.ts";
import { gatewayUrl, isGatewayNamed } from "../client/settings.ts";
import { print, printNote, URL_OPTION } from "./common.ts";

type Options = { url?: string; browser: boolean };

export const addLogin = (program: Command) =>
  program
    .command("login")
    .description("Sign this computer in: get a client key of your own, which the other commands then use.")
    .option("--no-browser", "only show the address")
    .option(...URL_OPTION)
    .addHelpText("after", HELP)
    .action((options: Options) => login(options));

const HELP = `
Shows a code and the address of the gateway's page that approves it, and waits for you there. The key is named after this
computer, is listed on that gateway under My keys, and is kept in your system's settings directory, readable by you alone.
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
    `the former key could not be revoked at ${url}. Revoke the one that ends in ${key.slice(-4)} there.`,
  );
}
