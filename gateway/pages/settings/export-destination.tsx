import { Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ExportDestinationView } from "#shared/admin/exports.ts";
import { getJson, sendJson, statusOf } from "../data/api.ts";
import { announce } from "../parts/announce.tsx";
import { calendarDay } from "../parts/dates.ts";
import { Answered, Panel } from "../parts/page.tsx";
import { DeleteButton } from "./delete-button.tsx";
import { EXPORT_DESTINATION } from "./forms/bill-forms.ts";
import { ResourceForm } from "./forms/resource-form.tsx";

const PATH = "/admin/v1/export/destination";

/** The bucket that gets each day's FOCUS rows. */
export function ExportDestination() {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ["export destination"],
    queryFn: async ({ signal }) => {
      const view = await getJson<ExportDestinationView>(PATH, signal).catch((error: unknown) => {
        if (statusOf(error) === 404) return null;
        throw error;
      });
      return { view };
    },
  });
  const send = async (method: "PUT" | "DELETE", body?: Record<string, unknown>) => {
    await sendJson(PATH, { method, ...(body && { body }) });
    await client.invalidateQueries({ queryKey: ["export destination"] });
    if (body) announce("The bucket was saved.");
  };
  return (
    <Panel
      title="Daily export"
      sub="Each day's cost as FOCUS rows, to S3 or a storage that speaks its protocol."
    >
      <Answered query={query}>
        {({ view }) => (
          <>
            {view && (
              <Group justify="space-between" wrap="nowrap" maw={720}>
                <p className={view.failure === null ? "mute" : ""} role="status" style={{ flex: 1 }}>
                  Days before {calendarDay(view.done_until)} are uploaded.
                  {view.failure !== null && ` The last upload failed: ${view.failure}.`}
                </p>
                <DeleteButton
                  {...{ name: view.bucket, verb: "Delete", size: "xs" }}
                  effect="Days are no longer uploaded. What was uploaded stays."
                  remove={() => send("DELETE")}
                />
              </Group>
            )}
            <ResourceForm
              key={view?.bucket ?? "new"}
              form={EXPORT_DESTINATION}
              view={view}
              action="Save the bucket"
              save={(body) => send("PUT", body)}
            />
          </>
        )}
      </Answered>
    </Panel>
  );
}
