/** Whether a pull request explains a session's spend, and why not. The first that applies counts. */
export const EXPLANATION_MEANING = {
  joined: ["Merged", "A merged pull request names its session, or one that its session is linked to."],
  claimed_or_conflict: [
    "Merged, not joined",
    "A merged pull request names its session beside another one, or its author from outside owns no key of the session.",
  ],
  open: ["Open", "A pull request that names its session is still open."],
  closed_unmerged: [
    "Closed without a merge",
    "The pull request that names its session was closed without a merge.",
  ],
  outside_app: [
    "Repository without the App",
    "Its agent worked in a repository that the GitHub App does not see, so its pull requests are unknown.",
  ],
  no_pull_request: ["No pull request", "No known pull request names its session."],
  no_session: ["No session", "Its calls sent no session, so no pull request can name them."],
} as const satisfies Record<string, readonly [word: string, meaning: string]>;
export type Explanation = keyof typeof EXPLANATION_MEANING;
// The keys of the table and nothing else, in its order.
export const EXPLANATIONS = Object.keys(EXPLANATION_MEANING) as Explanation[];
