import { type Static, Type } from "@sinclair/typebox";
import { closed, nullable } from "../schema.ts";

/** What spend is listed by. A person is the owner of the keys, in lower case; a team includes the teams below it. */
export const SPEND_BY = ["key", "person", "team", "route", "provider"] as const;
export type SpendBy = (typeof SPEND_BY)[number];

/** `GET /admin/v1/spend`: who or what made calls lately. */
export const Spend = closed({
  month_from: Type.String({ description: "Start of the current month (UTC)." }),
  from: Type.String({
    description:
      "Start of what is listed: 30 days ago (the beginning of that day), or that of the month before.",
  }),
  data: Type.Array(
    closed({
      name: Type.String({ description: "A key's id; else a name or an e-mail." }),
      requests: Type.Integer({ description: "Calls of the month." }),
      cost_usd: nullable(
        Type.String({
          description: "Known cost of the month, without what subscriptions paid; exact decimal.",
        }),
      ),
      floor: Type.Boolean({ description: "Whether `cost_usd` is a lower bound." }),
      last_used_at: Type.String({ description: "Start of the latest call." }),
    }),
  ),
});
export type Spend = Static<typeof Spend>;
