/** What a provider tells of one answer. The four counts are disjoint. */
export type Tokens = { input: number; cacheRead: number; cacheWrite: number; output: number };

/** One use of a vendor's SDK. `turns` has one entry per HTTP call that it makes: with tools, two. */
export type Use = {
  sdk: "openai" | "anthropic";
  mode: "plain" | "stream" | "tools";
  model: keyof typeof LIST_PRICES;
  session: SessionName | null;
  turns: readonly Tokens[];
};

export type SessionName = "checkout" | "search" | "left" | "right";

/**
 * USD per million tokens, as the vendors' price pages say. Written down here a second time on purpose: the sum by hand
 * must not ask the price list that it checks. The names are dated ones, which the calls of others rarely use.
 */
export const LIST_PRICES = {
  "gpt-4o-2024-08-06": { input: "2.5", cacheRead: "1.25", cacheWrite: "0", output: "10" },
  "gpt-4o-mini-2024-07-18": { input: "0.15", cacheRead: "0.075", cacheWrite: "0", output: "0.6" },
  "claude-sonnet-4-5-20250929": { input: "3", cacheRead: "0.3", cacheWrite: "3.75", output: "15" },
  "claude-haiku-4-5-20251001": { input: "1", cacheRead: "0.1", cacheWrite: "1.25", output: "5" },
} as const satisfies Record<string, Record<keyof Tokens, string>>;

const told = (input: number, output: number, cached: Partial<Tokens> = {}): Tokens => ({
  cacheRead: 0,
  cacheWrite: 0,
  ...cached,
  input,
  output,
});

const use = (
  sdk: Use["sdk"],
  mode: Use["mode"],
  model: Use["model"],
  session: Use["session"],
  ...turns: Tokens[]
): Use => ({ sdk, mode, model, session, turns });

/** What the demo's developers and agents do, in this order. */
export const USES: readonly Use[] = [
  use("openai", "plain", "gpt-4o-2024-08-06", "checkout", told(1_240, 380)),
  use("openai", "stream", "gpt-4o-2024-08-06", "checkout", told(416, 912, { cacheRead: 3_072 })),
  use("openai", "tools", "gpt-4o-mini-2024-07-18", "checkout", told(2_204, 48), told(2_360, 176)),
  use("anthropic", "plain", "claude-sonnet-4-5-20250929", "search", told(1_820, 640)),
  use("anthropic", "stream", "claude-sonnet-4-5-20250929", "search", told(92, 1_404, { cacheWrite: 5_120 })),
  use(
    "anthropic",
    "tools",
    "claude-haiku-4-5-20251001",
    "search",
    told(1_008, 88),
    told(72, 264, { cacheRead: 4_096 }),
  ),
  use("openai", "plain", "gpt-4o-2024-08-06", "left", told(700, 120)),
  use("anthropic", "stream", "claude-haiku-4-5-20251001", "right", told(540, 210)),
  use("openai", "plain", "gpt-4o-mini-2024-07-18", null, told(96, 32)),
];

type Link = "joined" | "no_stamp" | "conflict";

/** A merged pull request: the sessions that its body names, and what must come of it. */
export type Merge = {
  repository: "checkout" | "search";
  number: number;
  sessions: readonly SessionName[];
  link: Link;
};

export const MERGES: readonly Merge[] = [
  { repository: "checkout", number: 1, sessions: ["checkout"], link: "joined" },
  { repository: "checkout", number: 2, sessions: [], link: "no_stamp" },
  { repository: "search", number: 1, sessions: ["search"], link: "joined" },
  { repository: "search", number: 2, sessions: ["left", "right"], link: "conflict" },
];
