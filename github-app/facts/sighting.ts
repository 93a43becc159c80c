import type { Sighting } from "./facts.ts";
import { instantOf, type Time } from "./payloads.ts";

/** A time that a schema has validated. */
export const checkedTime = (value: Time): string => instantOf(value) ?? "";

type OfRepository = {
  installation?: { id: number } | null;
  repository: { id: number; full_name: string; private?: boolean };
};

export const installedOn = ({ installation }: OfRepository) =>
  installation ? { id: installation.id } : null;

/** An event of a repository shows that the App is installed there at that time, and the repository's name. */
export const sightingOf = (payload: OfRepository, at: string): Sighting => ({
  id: payload.repository.id,
  fullName: payload.repository.full_name,
  formerNames: [],
  installationId: payload.installation?.id ?? null,
  covered: true,
  isPrivate: payload.repository.private ?? null,
  at,
});
