import type { Role } from "#shared/admin/people.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const idleMs = (role: Role): number => (role === "administrator" ? 30 * MINUTE_MS : 12 * HOUR_MS);
/** Maximum length of a session. */
export const SESSION_SECONDS_MAX = 7 * 24 * 60 * 60;
/** GitHub sign-ins last one day, so that membership is checked again: no GitHub token is stored. */
const lengthMsMax = (way: string | null): number =>
  way === "github" ? 24 * HOUR_MS : SESSION_SECONDS_MAX * 1000;

/** Sessions are extended at most this often, so that not every request writes. */
const PROLONG_EVERY_MS = MINUTE_MS;

type Ends = { createdAt: Date; now: Date; role: Role; way: string | null };

/** The end of a session that is in use now. */
export const sessionEnd = ({ createdAt, now, role, way }: Ends): Date =>
  new Date(Math.min(createdAt.getTime() + lengthMsMax(way), now.getTime() + idleMs(role)));

/** Whether the new end of a session is worth a write. */
export const isWorthProlonging = (from: Date, to: Date): boolean =>
  to.getTime() - from.getTime() >= PROLONG_EVERY_MS || to < from;
