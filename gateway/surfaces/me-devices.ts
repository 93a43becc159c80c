import { Elysia } from "elysia";
import { DeviceDecision, DeviceSignIn } from "#shared/admin/device-sign-ins.ts";
import { type RefusedCredentials, refusedCredentials } from "#shared/refused-credentials.ts";
import { viewAs } from "#shared/view-as.ts";
import { noContent, ownRoute } from "../admin/documented.ts";
import { requireRoomForKey } from "../admin/own-key.ts";
import { GatewayError } from "../errors.ts";
import { readUserCode } from "../identity/device/codes.ts";
import { type Own, type OwnDeps, ownPerson } from "../identity/own-person.ts";
import { readJson } from "../plugins/body.ts";
import { tooManyRefusals } from "../plugins/refusals.ts";
import type { Origin } from "../stores/audit.ts";
import { audited } from "../stores/change.ts";
import { type DeviceSignInRow, decideSignIn, findPendingSignIn } from "../stores/identity/device-sign-ins.ts";
import { withStoreErrors } from "../stores/store-errors.ts";
import type { RequestBodyDeps } from "../upstream/request-body.ts";

export type MeDevicesDeps = OwnDeps & RequestBodyDeps;

const READ = ownRoute("change", {
  summary: "Who asks to be signed in with a code",
  description: "For the page that approves it. Reading approves nothing.",
  answers: { 200: DeviceSignIn },
});
const DECIDE = ownRoute("change", {
  summary: "Approve or refuse the sign-in of a device",
  description: "An approved device gets a client key of yours, named after it, and counted among your own.",
  body: DeviceDecision,
  answers: { 204: null },
});

/** Wrong codes of one person within a minute; from then on no code of theirs is looked up until the minute is over. */
const WRONG_CODES_MAX = 20;

/** `/v1/me/devices/{code}`: a person's answer to a device that asks to be signed in. */
export const meDevices = (options: MeDevicesDeps) => {
  const report = () => undefined;
  const guesses = refusedCredentials({ clock: options.clock, perMinuteMax: WRONG_CODES_MAX, report });
  const deps = { ...options, guesses };
  return new Elysia({ name: "surface.me-devices", prefix: "/v1/me/devices" })
    .use(ownPerson(deps))
    .get(
      "/:code",
      async ({ request, params, own }) => viewOf(await asking(deps, { request, own }, params.code)),
      { ...READ },
    )
    .post(
      "/:code",
      async ({ request, params, own, origin }) => {
        const { approve } = await readJson(deps, request, DeviceDecision);
        const signIn = await asking(deps, { request, own }, params.code);
        await decide(deps, { own, origin }, { signIn, approve });
        return noContent();
      },
      { ...DECIDE },
    );
};

type Asking = { request: Request; own: Own };

/** @throws GatewayError not_found; too_many_refusals when too many wrong codes came from the person or the address. */
async function asking(
  { database, refusals, clock, guesses }: MeDevicesDeps & { guesses: RefusedCredentials },
  { request, own }: Asking,
  text: string,
): Promise<DeviceSignInRow> {
  const waitSeconds = guesses.waitSeconds(own.email);
  if (waitSeconds > 0) throw tooManyRefusals(waitSeconds);
  const code = readUserCode(text);
  const found =
    code === null ? null : await withStoreErrors(() => findPendingSignIn(database.db, code, clock.now()));
  if (found) return found;
  guesses.note(own.email);
  const refusal = refusals.refused("user_code", request);
  // Whoever asks is signed in: it is the code that does not exist.
  throw refusal.type === "unauthenticated" ? new GatewayError("not_found", refusal.message) : refusal;
}

async function decide(
  { database, clock }: MeDevicesDeps,
  { own, origin }: { own: Own; origin: Origin },
  { signIn, approve }: { signIn: DeviceSignInRow; approve: boolean },
): Promise<void> {
  const { personId, email } = own;
  const state = approve ? "approved" : "denied";
  await audited(database, origin, async (tx, audit) => {
    if (approve) await requireRoomForKey(tx, own, clock.now());
    const isDecided = personId !== null && (await decideSignIn(tx, signIn.id, { state, personId }));
    if (!isDecided) throw new GatewayError("not_found", "Someone has already answered this request.");
    await audit({ action: `device.${state}`, subject: email, after: viewOf(signIn) });
  });
}

const viewOf = (row: DeviceSignInRow): DeviceSignIn => viewAs(DeviceSignIn, row);
