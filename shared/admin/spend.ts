import { type Static, Type } from "@sinclair/typebox";
import { closed, Flag, Integer, Text, TextOrNull } from "../schema.ts";

/** What spend is listed by. A person is the owner of the keys, in lower case; a team includes the teams below it. */
export const SPEND_BY = ["key", "person", "team", "route", "provider"] as const;
export type SpendBy = (typeof SPEND_BY)[number];

/** `GET /admin/v1/spend`: who or what made calls lately. */
export const Spend = closed({
  month_from: Text("Start of the current month (UTC)."),
  from: Text(
    "Start of what is listed: 30 days ago (the beginning of that day), or that of the month before.",
  ),
  data: Type.Array(
    closed({
      name: Text("A key's id; else a name or an e-mail."),
      requests: Integer("Calls of the month."),
      cost_usd: TextOrNull("Known cost of the month, without what subscriptions paid; exact decimal."),
      floor: Flag("Whether `cost_usd` is a lower bound."),
      last_used_at: Text("Start of the latest call."),
    }),
  ),
});
export type Spend = Static<typeof Spend>;
