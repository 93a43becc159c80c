import { matchesGlob } from "#shared/glob.ts";
import type { ClientKey, Directory, Provider } from "../directory.ts";
import { GatewayError, refuse } from "../errors.ts";

/**
 * Segments of addresses where vendors administer accounts (keys, people, money and rights), or hand out credentials with
 * which clients call them past the gateway. No glob opens them. Sources: the APIs of OpenAI, Anthropic, OpenRouter, Google
 * (IAM, Live), Fireworks, xAI and ElevenLabs.
 */
const ADMINISTRATION = new RegExp(
  `^(?:${[
    "admin|organi[sz]ations?|projects?|workspaces?|accounts?|teams?|users?|members?|invit(?:e|ation)s?|roles?|groups?|me",
    "(?:service|admin|api)[-_]?(?:accounts?|keys?)|keys?|(?!count)(?:[a-z]+[-_])*(?:tokens?|secrets?|credentials?)",
    "credits?|billing|payments?|invoices?|usage(?:[-_]reports?)?|costs?(?:[-_]reports?)?|spend(?:[-_]\\w+)?|limits?|quotas?",
    "audit[-_]?logs?|certificates?|permissions?|polic(?:y|ies)|iam|auth|oauth\\d?|(?:[a-z]+_)?sessions",
  ].join("|")})$|:(?:get|set|test)iam|permissions$`,
  "i",
);

/** Decoded segments may hold nothing that another server could read as the end of a segment or of the path. */
const SEGMENT = /^(?!\.{1,2}$)[^/\\%?#;\s\p{Cc}]+$/u;

/**
 * The provider whose own address a key may call. `path` is as sent, without the query.
 * @throws GatewayError route_not_allowed, not_found, invalid_request
 */
export function requirePassThrough(
  { providers }: Pick<Directory, "providers">,
  key: ClientKey,
  { name, path }: { name: string; path: string },
): Provider {
  if (!key.scopes.providers?.includes(name)) {
    const sentence = "This key's scope does not list this provider, so it may not call its own addresses.";
    throw new GatewayError("route_not_allowed", sentence);
  }
  const provider = providers.get(name);
  if (!provider?.enabled || provider.kind === "echo") throw new GatewayError("not_found");
  const segments = segmentsOf(path);
  const plain = `/${segments.join("/")}`;
  const isOpen = provider.passThrough?.some((glob) => matchesGlob(glob.replace(/^(?!\/)/, "/"), plain));
  if (!isOpen || segments.some((segment) => ADMINISTRATION.test(segment))) {
    const sentence =
      "The provider's `pass_through` does not open this address, or it administers the vendor's account.";
    throw new GatewayError("route_not_allowed", sentence);
  }
  return provider;
}

/** @throws GatewayError invalid_request for a path that servers may read differently. */
function segmentsOf(path: string): string[] {
  const segments = path.slice(1).split("/").map(decoded);
  if (segments.every((segment) => SEGMENT.test(segment))) return segments;
  refuse("The address is not valid.");
}

/**
 * What may be an id in a vendor's path: each segment, and each pair, because Google's names have two.
 * @throws GatewayError invalid_request
 */
export const requireVendorPath = (path: string): string[] =>
  segmentsOf(path).flatMap((segment, index, all) =>
    index === 0 ? [segment] : [segment, `${all[index - 1]}/${segment}`],
  );

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}
