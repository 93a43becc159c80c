/** What a pull request's link to its session is called, and how it looks. */
const LINK_WORDS: Readonly<Record<string, readonly [word: string, tone: "good" | "warn" | ""]>> = {
  open: ["open", ""],
  joined: ["joined", "good"],
  no_stamp: ["not stamped", "warn"],
  conflict: ["two sessions", "warn"],
  unknown_session: ["unknown session", "warn"],
  claimed: ["claimed", "warn"],
  not_merged: ["not merged", ""],
};

export const LINKS = Object.keys(LINK_WORDS);
export const linkWord = (link: string): string => LINK_WORDS[link]?.[0] ?? link;

/** The same as a tag. */
export const LinkTag = ({ link }: { link: string }) => (
  <span className={`tag ${LINK_WORDS[link]?.[1] ?? ""}`}>{linkWord(link)}</span>
);

/** What to do about a link that has no cost; the page of the pull request says it in full. */
const REMEDIES: Readonly<Record<string, string>> = {
  no_stamp: "Add a Gateway-Session line to its body; this also works after the merge.",
  conflict: "Leave one Gateway-Session line in its body.",
  unknown_session: "Its session has no calls here. Check whether the agent used another gateway or key.",
  claimed: "Its author is from outside. An administrator must accept the session.",
};

export const linkRemedy = (link: string): string | null => REMEDIES[link] ?? null;

/** GitHub's own page, where the repository is still known. */
export const githubUrl = (repository: string, number: number): string =>
  `https://github.com/${repository.split("/").map(encodeURIComponent).join("/")}/pull/${number}`;
