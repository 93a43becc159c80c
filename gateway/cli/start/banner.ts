export type BannerFacts = {
  gatewayUrl: string;
  publicUrl: string | null;
  githubAppUrl: string;
  /** A one-time link that sets the App up; null: it is set up. */
  setupUrl: string | null;
  /** A one-time link that makes its user the administrator; null: there is one. */
  signInUrl: string | null;
  /** The database and its location, for display. */
  database: string;
  adminKeyFile: string | null;
  /** Address that others on the network can reach without TLS; null: this machine alone, or PUBLIC_URL is https. */
  plainHost: string | null;
  /** The file with the first client key's secret; null if there is none. */
  firstKeyFile: string | null;
};

/** What a user needs after the start: addresses, where the keys are, and one call ready to paste. */
export function banner(facts: BannerFacts): string {
  const rows = [
    ["Gateway", facts.gatewayUrl],
    ...(facts.publicUrl === null ? [] : [["", `${facts.publicUrl} (PUBLIC_URL)`]]),
    ...(facts.signInUrl === null ? [] : [["Sign in", `(one use, 15 minutes) ${facts.signInUrl}`]]),
    ["Docs", `${facts.gatewayUrl}/docs`],
    ["API", `${facts.gatewayUrl}/openapi`],
    ["GitHub App", facts.githubAppUrl],
    ...(facts.setupUrl === null ? [] : [["", `Set it up (one use, 15 minutes): ${facts.setupUrl}`]]),
    ["Database", facts.database],
    ["Admin key", facts.adminKeyFile ?? "from ADMIN_KEY"],
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(11)} ${value}`);
  return ["", "Tallygate is ready.", "", ...lines, ...plainWarning(facts), "", ...firstCall(facts), ""].join(
    "\n",
  );
}

const plainWarning = ({ plainHost }: BannerFacts): string[] =>
  plainHost === null
    ? []
    : [
        "",
        `  Warning: HOST is ${plainHost}, so others on the network can connect, and keys and prompts travel`,
        "  unencrypted. Put a proxy with TLS in front and set PUBLIC_URL to its https address.",
      ];

function firstCall({ gatewayUrl, firstKeyFile }: BannerFacts): string[] {
  const key = firstKeyFile === null ? "YOUR_CLIENT_KEY" : `$(cat ${quoted(firstKeyFile)})`;
  const body = '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}';
  return [
    firstKeyFile === null ? "A first call, with one of your client keys:" : "A first call:",
    "",
    `  curl ${gatewayUrl}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '${body}'`,
  ];
}

/** Quoted as one POSIX shell word, also inside a command substitution within double quotes. */
export const quoted = (path: string): string =>
  /^[A-Za-z0-9_./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
