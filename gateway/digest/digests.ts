import type { Database } from "#drizzle/database.ts";
import { runLeased } from "#drizzle/leases/lease.ts";
import { type Poller, poll } from "#drizzle/leases/poll.ts";
import type { Clock } from "#shared/clock.ts";
import type { Digest } from "#shared/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Settings } from "#shared/settings.ts";
import { type ReportWriter, resultOf } from "../stores/reports/report-writer.ts";
import type { Sealer } from "../stores/seal.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { signedPost } from "../upstream/signed-post.ts";
import { APART_MS, digestOf, digestSpecs, dueOn, lastDue, type Week, weekBefore } from "./digest-of.ts";
import {
  findDigestWebhook,
  latestDigests,
  notJoinedIn,
  openDigestWebhook,
  revertedCosts,
  storeDigests,
  takeWebhookDigest,
} from "./digest-rows.ts";

export type MakeDigestDeps = { database: Database; reportWriter: Pick<ReportWriter, "write"> };

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

/** One round: stores the digest when due, once per day and channel, and posts it. The GitHub App writes the issue. */
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
    const body = JSON.stringify(payloadOf(on, content));
    await signedPost(reach, webhook, { id, at, body, secret: webhook.secret });
    return { state: "sent" as const, sentAt: at.toISOString() };
  });
  if (failed === null) log.info({ dueOn: on }, "the digest was posted");
  else
    log.warn(
      { dueOn: on, attempts: attempts + 1, ...errorFields(failed.error) },
      "the digest was not posted",
    );
}

/** The digest of a week, with the present figures of the reports. @throws GatewayError as reports do. */
export async function makeDigest(deps: MakeDigestDeps, week: Week): Promise<Digest> {
  const specs = digestSpecs(week);
  const end = new Date(week.toMs);
  const [outcomes, spend, reverted, notJoined] = await Promise.all([
    resultOf(deps.reportWriter, specs.outcomes, { now: end }),
    resultOf(deps.reportWriter, specs.spend, { now: end }),
    revertedCosts(deps.database, week),
    notJoinedIn(deps.database, week),
  ]);
  return digestOf({ outcomes, spend, reverted, notJoined });
}

/** `text` is what chat tools show. */
const payloadOf = (dueOn: string, content: Digest) => ({
  type: "tallygate.digest",
  due_on: dueOn,
  text: `${digestTitle(content)}\n\n${digestText(content)}`,
  digest: content,
});

/** The address without its query, which is a credential at some receivers. */
export const withoutQuery = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};
