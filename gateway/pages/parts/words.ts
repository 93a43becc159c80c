import type { MeasureName, SourceName } from "#shared/report.ts";
import type { Direction } from "./change.tsx";

/** What a source is called on the pages. */
export const SOURCE_WORDS = {
  requests: "Requests",
  tool_calls: "Tool calls",
  agent_metrics: "Agents' own figures",
  outcomes: "Pull requests",
} as const satisfies Record<SourceName, string>;

/** Names of the API whose words are others. */
const CODE_WORDS: Readonly<Record<string, string>> = {
  api_key: "API key",
  email: "e-mail",
  iban: "IBAN",
  national_id: "national ID",
  one_time_link: "one-time link",
  slack: "Slack",
  teams: "Teams",
  tts: "speech",
};

/** A name of the API as people write it. */
export const codeWords = (code: string): string => CODE_WORDS[code] ?? code.replaceAll("_", " ");

const WORSE = /cost(?!_share)|unpriced|latency|ttft|failed|denied|unknown|revert/;
const BETTER = /^(cache_hit_rate|joined_prs|merged_prs|ok)$/;

/** Whether more of a measure is worse: only then is a rise red. */
export const directionOf = (name: MeasureName): Direction =>
  WORSE.test(name) ? "worse" : BETTER.test(name) ? "better" : "neutral";
