import { Counter, type Registry } from "prom-client";
import type { Ambient } from "#shared/clock.ts";
import { keysOf } from "#shared/keys-of.ts";
import { refusedCredentials } from "#shared/refused-credentials.ts";
import { ERRORS, GatewayError } from "../errors.ts";

/** Kinds of credentials, each with the sentence for one that is absent or wrong. */
export const CREDENTIALS = {
  client_key: ERRORS.unauthenticated.public,
  admin_key:
    "No valid admin key or token was sent, and you are not signed in. Send it as Authorization: Bearer.",
  session: "No one is signed in. Sign in with a browser; for reading, one of your own client keys does, too.",
  sign_in_elsewhere: "The sign-in failed.",
  sign_in_link: "This sign-in link was used before, is over 15 minutes old, or is not of this gateway.",
  device_code: "This device code was used before, is over 10 minutes old, or is not of this gateway.",
  refresh_token: "This refresh token was used before or revoked, or is not of this gateway.",
  user_code:
    "No device waits for this code. Compare it with what the device shows; it is valid for 10 minutes.",
} as const;

export type Refusals = {
  /** IP address of the caller; null: the request did not come over the network. */
  addressOf(request: Request): string | null;
  /** The error for a credential that is wrong: the given one, or 429 when too many have come from its address. */
  refused(kind: keyof typeof CREDENTIALS, request: Request): GatewayError;
};

export type RefusalOptions = Ambient & {
  metrics: Registry;
  addressOf: Refusals["addressOf"];
  /** Refusals of one address within a minute from which on they are answered 429. */
  perMinuteMax: number;
};

export function tooManyRefusals(waitSeconds: number): GatewayError {
  const error = new GatewayError("too_many_refusals");
  error.headers = { "retry-after": String(waitSeconds) };
  return error;
}

/** Counts wrong credentials by kind, logs them at most once a second, and slows the addresses that they come from. */
export function openRefusals({ clock, log, metrics, addressOf, perMinuteMax }: RefusalOptions): Refusals {
  const counter = new Counter({
    name: "tallygate_refused_credentials_total",
    help: "Credentials that were refused.",
    labelNames: ["kind"],
    registers: [metrics],
  });
  for (const kind of keysOf(CREDENTIALS)) counter.inc({ kind }, 0);
  const slowed = refusedCredentials({
    clock,
    perMinuteMax,
    report: (address, refusals) => log.warn({ address, refusals }, "credentials refused"),
  });
  return {
    addressOf,
    refused(kind, request) {
      counter.inc({ kind });
      const address = addressOf(request);
      const waitSeconds = address === null ? 0 : slowed.note(address);
      if (waitSeconds === 0) return new GatewayError("unauthenticated", CREDENTIALS[kind]);
      return tooManyRefusals(waitSeconds);
    },
  };
}
