import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, nullable, oneOf, TextOrNull } from "../schema.ts";

/** Programs that sign in with a code, by the name that they send. */
export const DEVICE_PROGRAMS = ["tallygate", "claude_code"] as const;
export type DeviceProgram = (typeof DEVICE_PROGRAMS)[number];

/** How long a device's codes are valid. */
export const DEVICE_SECONDS = 600;

/** `GET /v1/me/devices/{code}`: the device that asks to sign in, in its own words, except the address. */
export const DeviceSignIn = closed({
  program: nullable(oneOf(DEVICE_PROGRAMS)),
  device_name: TextOrNull("The computer's name."),
  address: TextOrNull("IP address that asks."),
  created_at: Type.String(),
  expires_at: Type.String(),
});
export type DeviceSignIn = Static<typeof DeviceSignIn>;

/** `POST /v1/me/devices/{code}`. */
export const DeviceDecision = closed({
  approve: Flag("True gives the device a key of yours; false refuses it."),
});
