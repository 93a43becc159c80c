import { Elysia } from "elysia";
import { failureClass } from "#drizzle/leases/failure-class.ts";
import { AlertBody, AlertPatch, AlertTest, AlertView, type Receiver } from "#shared/admin/alerts.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { viewAs } from "#shared/view-as.ts";
import { type AlertRow, alertRows, noteOutcome, openReceiver, storedReceiver } from "../alerts/alert-rows.ts";
import { type DeliverDeps, deliver } from "../alerts/deliver.ts";
import { withoutQuery } from "../digest/digests.ts";
import { orNotFound, refuse } from "../errors.ts";
import { audited } from "../stores/change.ts";
import { patchedRow } from "../stores/rows.ts";
import type { AddressGuard } from "../upstream/ssrf.ts";
import { type AdminDeps, readDatabase } from "./deps.ts";
import { adminRoute } from "./documented.ts";
import { namedResource } from "./named-resource.ts";

export type AdminAlertDeps = AdminDeps & DeliverDeps & { addressGuard: AddressGuard };

/** `/admin/v1/alerts`: what is reported, and to whom. */
export const adminAlerts = (deps: AdminAlertDeps) =>
  new Elysia({ name: "admin.alerts", prefix: "/admin/v1" }).use(
    namedResource(deps, {
      path: "alerts",
      tag: "alerts",
      nouns: { one: "an alert", many: "alerts" },
      words: {
        create: {
          description:
            "Each state is reported once, however many gateways there are. A receiver that does not answer gets the message again for three days.",
        },
      },
      schemas: { body: AlertBody, patch: AlertPatch, view: AlertView },
      store: alertRows,
      audit: { set: "alert.set", deleted: "alert.deleted" },
      checkBody: async ({ to }) => {
        const fault = to && (await faultOf(deps, to));
        if (fault) refuse(`/to/${fault}.`);
      },
      made: ({ name, body, now }) => changed(deps, newAlert(name, now), { body, now }),
      patched: ({ current, body, now }) => changed(deps, current, { body, now }),
      view: (row) => viewAs(AlertView, row),
    }).post(
      "/:name/test",
      async ({ params: { name }, origin }): Promise<AlertTest> => {
        const row = orNotFound(await readDatabase(deps, (db) => alertRows.find(db, name)));
        await audited(deps.database, origin, async (_, audit) => {
          await audit({ action: "alert.tested", subject: name });
        });
        return await tested(deps, row);
      },
      adminRoute("alerts")({
        summary: "Send a test message, and report whether the receiver took it",
        answers: { 200: AlertTest },
      }),
    ),
  );

async function tested(deps: AdminAlertDeps, row: AlertRow): Promise<AlertTest> {
  const { name: alert } = row;
  const at = deps.clock.now();
  const content = {
    kind: "test",
    title: `Test of the alert ${alert}`,
    text: "This alert reaches its receiver.",
    facts: {},
  } as const;
  try {
    const receiver = openReceiver(deps.sealer, row);
    if (!receiver) return { delivered: false, failure: "The master key does not open the stored address." };
    await deliver(deps, receiver, { id: newId(), at, alert, content });
    await noteOutcome(deps.database.db, alert, { lastSentAt: at.toISOString(), failure: null });
    return { delivered: true, failure: null };
  } catch (error) {
    return { delivered: false, failure: failureClass(error) };
  }
}

const newAlert = (name: string, now: Date): AlertRow => ({
  orgId: DEFAULT_ORG,
  name,
  on: [],
  to: { kind: "webhook", url: "" },
  sealed: "",
  enabled: true,
  lastSentAt: null,
  failure: null,
  createdAt: now.toISOString(),
  updatedAt: now.toISOString(),
});

const changed = (
  { sealer }: AdminAlertDeps,
  row: AlertRow,
  { body: { to, on, enabled }, now }: { body: AlertPatch; now: Date },
): AlertRow =>
  patchedRow(
    row,
    {
      ...(on && { on }),
      ...(enabled !== undefined && { enabled }),
      ...(to && { ...storedReceiver(sealer, row.name, to), failure: null }),
    },
    now,
  );

/** Which members a kind of receiver has besides its address. */
const HAS: Readonly<Record<Receiver["kind"], readonly ("secret" | "addresses" | "from")[]>> = {
  webhook: ["secret"],
  slack: [],
  teams: [],
  email: ["addresses", "from"],
};

/** The member that the kind of receiver lacks or cannot have, and addresses that must not be called; null: none. */
async function faultOf({ addressGuard }: AdminAlertDeps, to: Receiver): Promise<string | null> {
  const { kind, url: text, allow_private_network: allowPrivate = false } = to;
  for (const member of ["secret", "addresses", "from"] as const) {
    if (HAS[kind].includes(member) === (to[member] !== undefined)) continue;
    return `${member}: ${to[member] === undefined ? "Expected" : "Not expected"} for ${kind}`;
  }
  const url = URL.parse(text);
  const isMail = kind === "email";
  if (!url || isMail !== /^smtps?:$/.test(url.protocol)) {
    return `url: Expected ${isMail ? "an smtps or smtp" : "an https"} address`;
  }
  if (!isMail && url.username + url.password !== "") return "url: Expected no user name or password";
  const checked = isMail ? `https://${url.hostname}` : withoutQuery(text);
  const fault = await addressGuard.saveFault(checked, allowPrivate);
  return fault && `url: ${fault}`;
}
