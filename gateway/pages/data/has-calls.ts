import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { getJson } from "./api.ts";

/** Whether any call was recorded: without one, there is nothing to see yet. */
export const hasCalls = async (): Promise<boolean> =>
  (await getJson<Page<RequestView>>("/admin/v1/requests?limit=1")).data.length > 0;
