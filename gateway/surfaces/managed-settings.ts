import { Elysia } from "elysia";
import type { Database } from "#drizzle/database.ts";
import type { Directory } from "../directory.ts";
import { GatewayError } from "../errors.ts";
import { type CallerCheck, clientKey } from "../plugins/client-key.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import { claudeSettingsOf } from "../stores/teams.ts";

export type ManagedSettingsDeps = {
  callers: CallerCheck;
  database: Database;
  directory: { current(): Pick<Directory, "settings"> };
};

/** `GET /managed/settings`: what Claude Code fetches at its start and hourly: its settings, as the caller's team has them. */
export const managedSettingsSurface = (deps: ManagedSettingsDeps) =>
  new Elysia({ name: "surface.managed-settings" }).use(clientKey(deps.callers)).get(
    "/managed/settings",
    async ({ request, caller }) => {
      const [team = null] = caller.key.teams ?? [];
      const ofTeam = await withStoreErrors(() => claudeSettingsOf(deps.database.db, team));
      const settings = ofTeam ?? deps.directory.current().settings.claude_settings;
      if (settings === null) throw new GatewayError("not_found", "There are no settings for this team.");
      return answerFor(request, settings);
    },
    {
      clientKey: true,
      detail: {
        tags: ["Claude Code"],
        summary: "Claude Code's managed settings of the caller's team",
        security: [{ clientKey: [] }],
        responses: {
          "200": { description: "`settings`, with their `checksum`, which is the ETag, too." },
          "304": { description: "They are those of `If-None-Match`." },
          "401": { description: "No valid client key." },
          "404": { description: "Neither the team, nor one above it, nor the organisation has any." },
          "503": { description: "The database is unavailable at the moment." },
        },
      },
    },
  );

function answerFor(request: Request, settings: Record<string, unknown>): Response {
  const text = JSON.stringify(sorted(settings));
  const checksum = `sha256:${new Bun.CryptoHasher("sha256").update(text).digest("hex")}`;
  const headers = { etag: `"${checksum}"`, "cache-control": "private, no-cache", vary: "authorization" };
  const known = (request.headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim());
  if (known.some((tag) => [`"${checksum}"`, `W/"${checksum}"`, checksum].includes(tag))) {
    return new Response(null, { status: 304, headers });
  }
  return Response.json({ uuid: checksum, checksum, settings }, { headers });
}

/** With the members of every object in the order of their names, as Claude Code computes the checksum. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
