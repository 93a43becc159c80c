import type { Spec } from "#shared/report.ts";
import { forcedTeam, type TeamScope } from "./forced-team.ts";
import { agentEstimateSpec, type Frame, type Item, subscriptionSpec } from "./request.ts";
import { checkPayloadSpec } from "./spec.ts";

/** What one call asks for: reports, each with its own spec, and the frame of the two results that every payload has. */
export type PayloadRequest = {
  frame: Frame;
  items: readonly Item[];
  /** What all results are limited to; absent: no limit. */
  scope?: TeamScope | null;
};

/** Results of a payload: one for each item, and the subscription's and the agents' own. */
export const resultsOf = ({ items }: PayloadRequest): number => items.length + 2;

type Making = {
  /** Results made at a time, in order. */
  atOnce: number;
  write(spec: Spec): Promise<string>;
  failed(error: unknown): void;
};

/**
 * The payload as text, of results that `write` gives as text: they are not taken apart here. An item that fails has no
 * result, and `failed` is told why; when one of the two results that every payload has fails, so does the payload.
 */
export async function payloadOf(
  { frame, items, scope = null }: PayloadRequest,
  { atOnce, write, failed }: Making,
): Promise<string> {
  const member = async ({ id, title, description, spec }: Item): Promise<string> => {
    const about = JSON.stringify({ id, title, description }).slice(0, -1);
    try {
      return `${about},"result":${await write(forcedTeam(checkPayloadSpec(spec), scope))}}`;
    } catch (error) {
      failed(error);
      return `${about},"result":null}`;
    }
  };
  const works = [
    ...items.map((item) => () => member(item)),
    ...[subscriptionSpec, agentEstimateSpec].map((spec) => () => write(forcedTeam(spec(frame), scope))),
  ];
  const texts: string[] = [];
  // Whoever is free takes the next.
  const left = works.entries();
  const take = async () => {
    for (const [place, work] of left) texts[place] = await work();
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  const [subscription, agentEstimate] = texts.splice(items.length);
  return `{"reports":[${texts.join(",")}],"subscription":${subscription},"agentEstimate":${agentEstimate}}`;
}
