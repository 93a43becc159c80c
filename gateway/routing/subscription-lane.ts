import type { Call, Choice, Target } from "../call.ts";

/** The vendor's hosts, at which a caller's own subscription may be used. */
export type VendorHosts = (target: Target) => readonly string[];

/**
 * Whether the caller's own credential is forwarded (subscription lane): it came with a valid `x-gateway-key`, the route
 * allows it, and every target is the vendor's own host or marked as trusted for it.
 */
export function usesSubscription(
  foreign: Call["passthroughCredential"],
  choice: Choice,
  hostsOf: VendorHosts,
): boolean {
  if (!foreign || !choice.route?.subscriptionPassthrough) return false;
  return choice.targets.every(
    (target) =>
      target.provider.trustedForPassthrough ||
      hostsOf(target).includes(new URL(target.provider.baseUrl).hostname),
  );
}
