import { Elysia } from "elysia";
import {
  DigestPreview,
  DigestState,
  DigestWebhookBody,
  DigestWebhookCreated,
  DigestWebhookView,
} from "#shared/admin/digest.ts";
import { digestText, digestTitle } from "#shared/digest-text.ts";
import { viewAs } from "#shared/view-as.ts";
import { lastDue, WEEK_MS, weekBefore } from "../digest/digest-of.ts";
import {
  type DigestRow,
  type DigestWebhookRow,
  findDigestWebhook,
  latestDigests,
  putDigestWebhook,
  removeDigestWebhook,
} from "../digest/digest-rows.ts";
import { makeDigest, withoutQuery } from "../digest/digests.ts";
import { orNotFound, refuse } from "../errors.ts";
import { access } from "../identity/access.ts";
import { readJson } from "../plugins/body.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import type { ReportWriter } from "../stores/reports/report-writer.ts";
import { type AdminDeps, awaitSettled } from "./deps.ts";
import { adminRoute, created, noContent } from "./documented.ts";

const docs = adminRoute("digest");
const LATEST = 20;

export type AdminDigestDeps = AdminDeps & {
  reportWriter: Pick<ReportWriter, "write">;
};

/** `/admin/v1/digest`: the weekly digest: a preview, its webhook, and the outcome of the latest ones. */
export const adminDigest = (deps: AdminDigestDeps) =>
  new Elysia({ name: "admin.digest", prefix: "/admin/v1/digest" })
    .use(access(deps))
    .get(
      "",
      () => stateOf(deps),
      docs({
        summary: "When and where digests are sent, and the latest ones",
        answers: { 200: DigestState },
      }),
    )
    .get(
      "/preview",
      async () => {
        await awaitSettled(deps);
        const digest = await makeDigest(deps, weekBefore(deps.clock.now()));
        return { title: digestTitle(digest), text: digestText(digest), digest };
      },
      docs({
        summary: "Preview the digest of the last seven whole days, without sending it",
        answers: { 200: DigestPreview },
      }),
    )
    .put(
      "/webhook",
      async ({ request, origin }) => {
        const body = await readJson(deps, request, DigestWebhookBody);
        const { url, allow_private_network: allowPrivateNetwork = false } = body;
        const fault = await faultOf(deps, url, allowPrivateNetwork);
        if (fault !== null) refuse(`/url: ${fault}.`);
        const { row, secret } = await setWebhook(deps, origin, { url, allowPrivateNetwork });
        return created({ ...webhookView(row), secret });
      },
      docs({
        summary: "Set the address that digests are posted to, and create a secret that signs them",
        body: DigestWebhookBody,
        answers: { 201: DigestWebhookCreated },
      }),
    )
    .delete(
      "/webhook",
      async ({ origin }) => {
        await audited(deps.database, origin, async (tx, audit) => {
          const gone = orNotFound(await removeDigestWebhook(tx));
          const before = webhookView(gone);
          await audit({ action: "digest_webhook.deleted", subject: before.host, before });
        });
        return noContent();
      },
      docs({ summary: "Stop posting digests", answers: { 204: null } }),
    );

type WantedWebhook = { url: string; allowPrivateNetwork: boolean };

const setWebhook = ({ database, sealer, clock }: AdminDeps, origin: Origin, wanted: WantedWebhook) =>
  audited(database, origin, async (tx, audit) => {
    const before = await findDigestWebhook(tx);
    const made = await putDigestWebhook(tx, sealer, { ...wanted, now: clock.now() });
    const after = webhookView(made.row);
    const states = { ...(before && { before: webhookView(before) }), after };
    await audit({ action: "digest_webhook.set", subject: after.host, ...states });
    return made;
  });

async function faultOf(deps: AdminDigestDeps, url: string, allowPrivate: boolean): Promise<string | null> {
  if (!URL.canParse(url)) return "Expected an http or https address";
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") return "Expected no user name or password";
  return deps.addressGuard.saveFault(withoutQuery(url), allowPrivate);
}

async function stateOf({ database, directory, clock }: AdminDigestDeps): Promise<DigestState> {
  const { digest_day: day, digest_hour: hour, digest_repository } = directory.current().settings;
  const webhook = await findDigestWebhook(database.db);
  const rows = await latestDigests(database, LATEST);
  return {
    next_due_at: new Date(lastDue(clock.now(), { day, hour }).getTime() + WEEK_MS).toISOString(),
    repository: digest_repository,
    webhook: webhook && webhookView(webhook),
    latest: rows.map(viewOf),
  };
}

const webhookView = (row: DigestWebhookRow) => viewAs(DigestWebhookView, row);

const viewOf = (row: DigestRow) =>
  viewAs(DigestState.properties.latest.items, { ...row, issueNumber: row.remoteId });
