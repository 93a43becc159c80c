import { Type } from "@sinclair/typebox";
import { Settings } from "#shared/settings.ts";
import { readJson } from "../plugins/body.ts";
import { patchSettings, readSettings } from "../stores/settings.ts";
import { type AdminDeps, adminPart, readDatabase, saveChange } from "./deps.ts";
import { adminRoute } from "./documented.ts";

const docs = adminRoute("settings");
const SettingsPatch = Type.Partial(Settings);

/** `/admin/v1/settings`: organisation-wide settings. */
export const adminSettings = (deps: AdminDeps) =>
  adminPart(deps, "settings")
    .get(
      "",
      () => readDatabase(deps, readSettings),
      docs({ summary: "Read the settings", answers: { 200: Settings } }),
    )
    .patch(
      "",
      async ({ request, origin }) => {
        const patch = await readJson(deps, request, SettingsPatch);
        return saveChange(deps, origin, async (tx, audit) => {
          const before = await readSettings(tx);
          const after = await patchSettings(tx, patch, deps.clock.now());
          await audit({ action: "settings.changed", subject: Object.keys(patch).join(", "), before, after });
          return after;
        });
      },
      docs({ summary: "Change settings", body: SettingsPatch, answers: { 200: Settings } }),
    );
