import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Settings } from "#shared/settings.ts";
import { adminKey } from "../plugins/admin-key.ts";
import { patchSettings, readSettings } from "../stores/settings.ts";
import { readJson } from "./body.ts";
import { type AdminDeps, changed, read } from "./deps.ts";
import { documented } from "./documented.ts";

const docs = documented("settings");
const SettingsPatch = Type.Partial(Settings);

/** `/admin/v1/settings`: what holds for the whole organisation. */
export const adminSettings = (deps: AdminDeps) =>
  new Elysia({ name: "admin.settings", prefix: "/settings" })
    .use(adminKey(deps.isAdmin))
    .get(
      "",
      () => read(deps, readSettings),
      docs({ summary: "Read the settings", answers: { 200: Settings } }),
    )
    .patch(
      "",
      async ({ request }) => {
        const patch = await readJson(request, SettingsPatch);
        return changed(deps, (tx) => patchSettings(tx, patch, deps.clock.now()));
      },
      docs({ summary: "Change settings", body: SettingsPatch, answers: { 200: Settings } }),
    );
