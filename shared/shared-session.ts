/** What several pull requests of one session cost, in the words of pages and of comments on GitHub. */
export const sharedSessionText = (merged: number, isSplit: boolean): string =>
  `${merged} merged pull requests name this session. ${
    isSplit
      ? "Each of them costs the calls that worked on its branch."
      : "Each of them shows its whole cost, which reports count once."
  }`;
