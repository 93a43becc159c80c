import { isWithinLength } from "#shared/text-length.ts";
import type { PointResults } from "./validate-points.ts";

/** The body of a 200 (spec, Metrics receiver 7); both members are always present. */
export type PartialSuccess = { rejectedDataPoints: number; errorMessage: string };

/** Refusals listed in an answer; bounded, because a sender can make up any number of names. */
const LISTED_MAX = 50;

/** Counts refusals by metric and reason. */
export function rejectedPoints(): { add: PointResults["refused"]; summary(): PartialSuccess } {
  const found = new Map<string, { metric: string; reason: string; points: number }>();
  let rejectedDataPoints = 0;
  return {
    add(metric, reason, points) {
      rejectedDataPoints += points;
      const name = `${reason} ${metric}`;
      const known = found.get(name);
      if (known) known.points += points;
      else found.set(name, { metric, reason, points });
    },
    summary() {
      const listed = [...found.values()].slice(0, LISTED_MAX).map(sentence);
      const more = found.size > LISTED_MAX ? [`and ${found.size - LISTED_MAX} more`] : [];
      return { rejectedDataPoints, errorMessage: [...listed, ...more].join("; ") };
    },
  };
}

const sentence = ({ metric, reason, points }: { metric: string; reason: string; points: number }): string =>
  `${isWithinLength(metric, NAME_LENGTH_MAX) ? metric : "(a name that is too long)"} ${reason} (${points} refused)`;

/** Longest name that is echoed or stored. */
export const NAME_LENGTH_MAX = 128;
