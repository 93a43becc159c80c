export type BannerFacts = {
  gatewayUrl: string;
  publicUrl: string | null;
  githubAppUrl: string;
  /** The database and its location, for display. */
  database: string;
  adminKeyFile: string | null;
  /** The file with the first client key's secret; null if there is none. */
  firstKeyFile: string | null;
};

/** What a user needs after the start: addresses, where the keys are, and one call ready to paste. */
export function banner(facts: BannerFacts): string {
  const rows = [
    ["Gateway", facts.gatewayUrl],
    ...(facts.publicUrl === null ? [] : [["", `${facts.publicUrl} (PUBLIC_URL)`]]),
    ["API", `${facts.gatewayUrl}/openapi`],
    ["GitHub App", facts.githubAppUrl],
    ["Database", facts.database],
    ["Admin key", facts.adminKeyFile ?? "from ADMIN_KEY"],
  ];
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(11)} ${value}`);
  return ["", "Tallygate is ready.", "", ...lines, "", ...firstCall(facts), ""].join("\n");
}

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
