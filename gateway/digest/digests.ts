import { runLeased } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Settings } from "#shared/settings.ts";
import { weekBefore } from "../reports/digest.ts";
import { findDigestWebhook, openDigestWebhook } from "../stores/reports/digest-webhook.ts";
import { latestDigests, storeDigests, takeWebhookDigest } from "../stores/reports/digests.ts";
import type { Sealer } from "../stores/seal.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { APART_MS, dueOn, lastDue } from "./due.ts";
import { type MakeDigestDeps, makeDigest } from "./make-digest.ts";
import { postDigest } from "./post-digest.ts";

export type DigestDeps = MakeDigestDeps & {
  directory: { current(): { settings: Settings } };
  sealer: Sealer;
  reach: OutboundFetch;
  clock: Clock;
  log: Log;
};

const POLL_MS = 30_000;
/** The rows of two weeks, with two channels each. */
const LATEST = 4;

/** Stores and posts weekly digests until stopped. Any number of gateways may do so at once. */
export const startDigests = (deps: DigestDeps): Poller =>
  poll({
    log: deps.log,
    pollMs: POLL_MS,
    round: async () => {
      await doDigests(deps);
      return false;
    },
  });

/**
 * One round: stores the digest when it is due, once per day and channel, and posts it to the webhook. The GitHub App
 * writes the issue.
 */
export async function doDigests(deps: DigestDeps): Promise<void> {
  await storeDue(deps);
  await postWaiting(deps);
}

/**
 * Stores what is due: the digest for a channel that is on at this time, else the note that it is off, so that switching
 * it on sends nothing of the past. Before the first round nothing was stored, so that one sends nothing either.
 */
async function storeDue(deps: DigestDeps): Promise<void> {
  const { digest_day, digest_hour, digest_repository } = deps.directory.current().settings;
  const due = lastDue(deps.clock.now(), { day: digest_day, hour: digest_hour });
  const on = dueOn(due);
  const latest = await latestDigests(deps.database, LATEST);
  const [last] = latest;
  const isStored = latest.filter((it) => it.dueOn === on).length === 2;
  const isNear = last && last.dueOn !== on && due.getTime() < Date.parse(last.dueAt) + APART_MS;
  if (isStored || isNear) return;

  const isOn = {
    issue: last !== undefined && digest_repository !== null,
    webhook: last !== undefined && (await findDigestWebhook(deps.database.db)) !== null,
  };
  const content = isOn.issue || isOn.webhook ? await makeDigest(deps, weekBefore(due)) : null;
  const row = (channel: "issue" | "webhook") => ({
    dueOn: on,
    dueAt: due.toISOString(),
    channel,
    state: isOn[channel] ? ("waiting" as const) : ("skipped" as const),
    content: isOn[channel] ? content : null,
  });
  await storeDigests(deps.database, [row("issue"), row("webhook")]);
}

async function postWaiting(deps: DigestDeps): Promise<void> {
  const { database, sealer, reach, clock, log } = deps;
  const lease = await takeWebhookDigest(deps);
  if (lease === null) return;
  const { deliveryId: id, dueOn: on, content, attempts } = lease.row;
  const failed = await runLeased(lease, async () => {
    const at = clock.now();
    const webhook = await openDigestWebhook(database, sealer);
    if (webhook === null || content === null) throw new Error("the webhook is missing, or cannot be opened");
    await postDigest(reach, webhook, { id, dueOn: on, content, at });
    return { state: "sent" as const, sentAt: at.toISOString() };
  });
  if (failed === null) log.info({ dueOn: on }, "the digest was posted");
  else
    log.warn(
      { dueOn: on, attempts: attempts + 1, ...errorFields(failed.error) },
      "the digest was not posted",
    );
}
