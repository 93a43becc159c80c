import type { Clock } from "#shared/clock.ts";
import { errorFields, type Log } from "#shared/log.ts";
import type { Settings } from "#shared/settings.ts";
import { weekBefore } from "../reports/digest.ts";
import { findDigestWebhook, openDigestWebhook } from "../stores/reports/digest-webhook.ts";
import {
  claimWebhookDigest,
  keepDigests,
  latestDigests,
  markDigestFailed,
  markDigestSent,
} from "../stores/reports/digests.ts";
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

export type Digests = { round(): Promise<void>; stop(): void };

const ROUND_MS = 30_000;
/** Over what a posting takes at most, so that nobody else posts it meanwhile. */
const BUSY_MS = 120_000;
const RETRY_MS = 60_000;
const RETRY_MS_MAX = 6 * 3_600_000;
/** Of both ways out, and of the week before. */
const LATEST = 4;

/**
 * Makes the weekly digest when it is due, keeps it for the GitHub App, which writes the issue, and posts it to the
 * webhook. Any number of gateways may do so: a digest is kept once per day and way out, and posted by one at a time.
 */
export function startDigests(deps: DigestDeps, everyMs = ROUND_MS): Digests {
  let running = false;
  const round = async () => {
    await keepDue(deps);
    await postWaiting(deps);
  };
  const timer = setInterval(() => {
    if (running) return;
    running = true;
    void round()
      .catch((error) => deps.log.warn(errorFields(error), "digests have to wait"))
      .finally(() => {
        running = false;
      });
  }, everyMs);
  timer.unref();
  return { round, stop: () => clearInterval(timer) };
}

/**
 * Keeps what is due: a digest where the way out is switched on at this time, else the note that it was not, so that
 * switching it on sends nothing of the past. Nothing was ever kept before the first round, so that sends nothing either.
 */
async function keepDue(deps: DigestDeps): Promise<void> {
  const { digest_day, digest_hour, digest_repository } = deps.directory.current().settings;
  const due = lastDue(deps.clock.now(), { day: digest_day, hour: digest_hour });
  const on = dueOn(due);
  const latest = await latestDigests(deps.database, LATEST);
  const [last] = latest;
  const isKept = latest.filter((it) => it.dueOn === on).length === 2;
  const isNear = last && last.dueOn !== on && due.getTime() < Date.parse(last.dueAt) + APART_MS;
  if (isKept || isNear) return;

  const isOn = {
    issue: last !== undefined && digest_repository !== null,
    webhook: last !== undefined && (await findDigestWebhook(deps.database)) !== null,
  };
  const content = isOn.issue || isOn.webhook ? await makeDigest(deps, weekBefore(due)) : null;
  const row = (channel: "issue" | "webhook") => ({
    dueOn: on,
    dueAt: due.toISOString(),
    channel,
    state: isOn[channel] ? ("waiting" as const) : ("skipped" as const),
    content: isOn[channel] ? content : null,
  });
  await keepDigests(deps.database, [row("issue"), row("webhook")]);
}

async function postWaiting({ database, sealer, reach, clock, log }: DigestDeps): Promise<void> {
  const now = clock.now();
  const digest = await claimWebhookDigest(database, now, new Date(now.getTime() + BUSY_MS));
  if (digest === null) return;
  try {
    const webhook = await openDigestWebhook(database, sealer);
    if (webhook === null) throw new Error("there is no webhook, or it cannot be opened");
    const { deliveryId: id, dueOn: on, content } = digest;
    await postDigest(reach, webhook, { id, dueOn: on, content, at: now });
    await markDigestSent(database, digest, clock.now());
    log.info({ dueOn: on }, "a digest was posted");
  } catch (error) {
    log.warn(
      { dueOn: digest.dueOn, attempts: digest.attempts + 1, ...errorFields(error) },
      "no digest posted",
    );
    const waitMs = Math.min(RETRY_MS * 2 ** Math.min(digest.attempts, 12), RETRY_MS_MAX);
    await markDigestFailed(database, digest, {
      failure: error instanceof Error ? error.name : "failed",
      nextAttemptAt: new Date(clock.now().getTime() + waitMs).toISOString(),
    });
  }
}
