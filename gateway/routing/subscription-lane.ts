import { matchesGlob } from "#shared/glob.ts";
import type { Call, Choice, Target } from "../call.ts";
import { GatewayError, refuse } from "../errors.ts";
import { SURFACES } from "../surface-facts.ts";

/** The vendor's hosts, at which a caller's own subscription may be used. */
export type VendorHosts = (target: Target) => readonly string[];

type LaneCall = Pick<Call, "headers" | "passthroughCredential" | "surface">;

/** Asks for the lane: the call is then refused rather than billed to the organisation. */
const LANE_HEADER = "x-gateway-lane";
const SUBSCRIPTION = "subscription";

/**
 * Whether a call asks to be paid for by the caller's own subscription and by nothing else.
 * @throws GatewayError invalid_request for another lane, which may be a misspelt one.
 */
function asksForSubscription(headers: Pick<Headers, "get">): boolean {
  const lane = headers.get(LANE_HEADER)?.trim().toLowerCase() ?? "";
  if (lane === "" || lane === SUBSCRIPTION) return lane !== "";
  refuse(`\`${LANE_HEADER}\` must be \`${SUBSCRIPTION}\`, or absent.`);
}

/**
 * The choice, in the subscription lane if nothing is in its way: the caller's own credential is then forwarded.
 * @throws GatewayError subscription_unavailable if the call asks for the lane and something is.
 */
export function withLane(call: LaneCall, choice: Choice, hostsOf: VendorHosts): Choice {
  const asked = asksForSubscription(call.headers);
  if (!asked && !call.passthroughCredential) return choice;
  const obstacle = obstacleOf(call, choice, hostsOf);
  if (obstacle === null) return { ...choice, channel: SUBSCRIPTION };
  if (asked) throw new GatewayError("subscription_unavailable", `${ASKED} ${obstacle}`);
  return choice;
}

const ASKED = `The call asks to be paid for by the caller's own subscription (${LANE_HEADER}), and cannot be:`;

/** The reason that a call is not on the lane, and the setting that would change it; null: nothing. */
function obstacleOf(call: LaneCall, choice: Choice, hostsOf: VendorHosts): string | null {
  if (!call.passthroughCredential) {
    return "it carries no credential but the gateway's own. Send the key in x-gateway-key and the subscription's credential in Authorization.";
  }
  for (const target of choice.targets) {
    const { provider } = target;
    if (!isOpen(choice, target)) return closed(choice, target);
    if (!provider.trustedForPassthrough && !isVendors(target, hostsOf)) {
      return `the provider ${provider.name} is not the vendor's own host. An administrator may set its trusted_for_passthrough.`;
    }
    // A translated call goes to a vendor that did not issue the caller's credential.
    if (target.wire !== SURFACES[call.surface].wire) {
      return `the provider ${provider.name} needs the call translated. Name a model of the subscription's own vendor.`;
    }
  }
  return null;
}

const isOpen = ({ route }: Choice, { provider, model }: Target): boolean =>
  route?.subscriptionPassthrough === true ||
  provider.subscriptionPassthrough ||
  (model !== null && provider.subscriptionModels.some((glob) => matchesGlob(glob, model)));

function closed({ route }: Choice, { provider }: Target): string {
  const places = [...(route ? [`the route ${route.name}`] : []), `the provider ${provider.name}`];
  return `subscription_passthrough is off. An administrator sets it on ${places.join(" or ")}, or lists the model in the provider's subscription_models.`;
}

function isVendors(target: Target, hostsOf: VendorHosts): boolean {
  // A provider that answers in process has no address.
  const host = URL.parse(target.provider.baseUrl)?.hostname;
  return host !== undefined && hostsOf(target).includes(host);
}

/**
 * Batches are created with the organisation's credential alone.
 * @throws GatewayError subscription_unavailable for one that asks for the lane.
 */
export function refuseBatchInLane(headers: Pick<Headers, "get">): void {
  if (!asksForSubscription(headers)) return;
  throw new GatewayError("subscription_unavailable", `${ASKED} it is a batch, which has no such lane.`);
}
