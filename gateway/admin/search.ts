import { FoundNames } from "#shared/admin/search.ts";
import { refuse } from "../errors.ts";
import { recordScope } from "../identity/scope.ts";
import { pullRequestScope } from "../stores/pull-request-rights.ts";
import { findNamed, findPulls } from "../stores/search.ts";
import { teamsWithin } from "../stores/teams.ts";
import { type AdminDeps, adminPart, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { readParameters } from "./list.ts";

/** `/admin/v1/search`: finds what the viewer may see by a part of its name. */
export const adminSearch = (deps: AdminDeps) =>
  adminPart(deps, "search").get(
    "",
    async ({ request, viewer }): Promise<FoundNames> => {
      const { q } = readParameters(request, ["q"]);
      const text = q?.trim() ?? "";
      if (text === "") refuse("q: Expected a text.");
      const { role, team } = viewer;
      return readDatabase(deps, async (db) => {
        const pulls = await findPulls(db, await pullRequestScope(db, recordScope(viewer)), text);
        if (role === "member") return { data: pulls };
        const isAdmin = role === "administrator";
        const teams = isAdmin || team === null ? null : await teamsWithin(db, team);
        const named = await findNamed(db, { isAdmin, teams }, text);
        // A token without a team reads no e-mails: they name people, and owners of keys.
        const shown = viewer.masksEmails
          ? named.filter(({ kind }) => kind !== "person").map((item) => ({ ...item, detail: null }))
          : named;
        return { data: [...shown, ...pulls] };
      });
    },
    adminRoute("records")({
      summary:
        "Find people, keys, teams, routes, models, repositories and pull requests by a part of their name",
      description:
        "Members find repositories and pull requests that they took part in; managers of a team also its people, teams and models; administrators everything. Up to 8 of each kind, names that begin with the text first.",
      role: "member",
      query: { q: "A part of a name, or `name#7` for a pull request." },
      answers: { 200: FoundNames },
    }),
  );
