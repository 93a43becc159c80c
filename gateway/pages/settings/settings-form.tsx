import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Settings } from "#shared/settings.ts";
import { getJson, sendJson } from "../data/api.ts";
import { announce } from "../parts/announce.tsx";
import { Answered, Panel } from "../parts/page.tsx";
import type { Form } from "./forms/field.ts";
import { ResourceForm } from "./forms/resource-form.tsx";

const SETTINGS_QUERY = {
  queryKey: ["settings", "switches"],
  queryFn: () => getJson<Settings>("/admin/v1/settings"),
} as const;

type SettingsFormProps = {
  title: string;
  sub?: string;
  form: Form;
};

/** Some of the installation's settings, saved together. */
export function SettingsForm({ title, sub, form }: SettingsFormProps) {
  const client = useQueryClient();
  const query = useQuery(SETTINGS_QUERY);
  const save = async (body: Record<string, unknown>) => {
    const settings = await sendJson<Settings>("/admin/v1/settings", { method: "PATCH", body });
    client.setQueryData(SETTINGS_QUERY.queryKey, settings);
    announce("Saved. In force here now, and within five seconds everywhere.");
  };
  return (
    <Panel title={title} sub={sub}>
      <Answered query={query}>
        {(settings) => <ResourceForm form={form} view={settings} action="Save" save={save} />}
      </Answered>
    </Panel>
  );
}
