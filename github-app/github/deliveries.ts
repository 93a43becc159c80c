import { isEventName } from "../facts/facts.ts";
import type { Github } from "./octokit.ts";

/** A relevant event of which GitHub lists no successful delivery. `id`: GitHub's id of the last attempt. */
export type FailedDelivery = { deliveryId: string; id: number; attempts: number; at: number };

/** Failed deliveries since then (Unix milliseconds), oldest first. All attempts of an event share its delivery id. */
export async function listFailedDeliveries(github: Github, sinceMs: number): Promise<FailedDelivery[]> {
  const events = new Map<string, FailedDelivery & { succeeded: boolean }>();
  const pages = github.paginate.iterator(github.rest.apps.listWebhookDeliveries, { per_page: 100 });
  for await (const { data } of pages) {
    for (const it of data) {
      if (!isEventName(it.event)) continue;
      const at = Date.parse(it.delivered_at);
      const known = events.get(it.guid) ?? {
        deliveryId: it.guid,
        id: it.id,
        attempts: 0,
        at,
        succeeded: false,
      };
      known.attempts++;
      known.succeeded ||= isSuccess(it.status_code);
      events.set(it.guid, known);
    }
    const last = data.at(-1);
    if (last && Date.parse(last.delivered_at) < sinceMs) break;
  }
  return [...events.values()].filter((it) => !it.succeeded).sort((a, b) => a.id - b.id);
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** GitHub's last deliveries of any kind: how many, how many of them failed, and how the last one failed. */
export type RecentDeliveries = {
  total: number;
  failed: number;
  /** `status` 0: GitHub could not connect, or waited in vain. */
  lastFailure: { at: string; status: number } | null;
};

/** Of the last hundred attempts. */
export async function recentDeliveries(github: Github): Promise<RecentDeliveries> {
  const { data } = await github.rest.apps.listWebhookDeliveries({ per_page: 100 });
  const failed = data.filter((it) => !isSuccess(it.status_code));
  const [last] = failed;
  const lastFailure = last ? { at: last.delivered_at, status: last.status_code } : null;
  return { total: data.length, failed: failed.length, lastFailure };
}
