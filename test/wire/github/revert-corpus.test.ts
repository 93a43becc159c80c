import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "#drizzle/database.ts";
import { pullRequestCommits } from "#drizzle/schema/feedback.ts";
import { pullRequests, repositories } from "#drizzle/schema/github.ts";
import { revertedBy, revertsQuery } from "#gateway/reports/reverts.ts";
import { reduce } from "#github-app/facts/reduce.ts";
import { readCommitClaims } from "#github-app/facts/revert.ts";
import { pullRequestAfter } from "#github-app/state/pull-request-after.ts";
import { type PullRequestOptions, pullRequestPayload } from "#test/support/github-payloads.ts";
import { testDatabase } from "#test/support/postgres.ts";

/**
 * Every form in which public projects revert pull requests, as measured on the histories of about a hundred of them.
 * Pull requests 1 to 3 were merged before, as the commits of `SHA`. `means` is what a person who knows the project would
 * say is reverted at the end, `found` what Tallygate says: they differ where only a title, or no commit that is known,
 * tells of the revert, because titles are not believed.
 */
type Told = Omit<PullRequestOptions, "number" | "mergedAt"> & {
  merged?: false;
  sha?: string;
  commits?: { sha: string; message: string }[];
};
type Case = { form: string; told: Told[]; means: number[]; found: number[] };

const sha = (n: number | string) => new Bun.CryptoHasher("sha1").update(`${n}`).digest("hex");
const SHA = { 1: sha(1), 2: sha(2), 3: sha(3) };
const OTHER = sha("a commit of a branch");

const said = (target: string, subject = 'Revert "Update the README"') =>
  `${subject}\n\nThis reverts commit ${target}.\n`;
const commit = (message: string, own = sha(message)) => ({ sha: own, message });

const both = (form: string, reverted: number[], ...told: Told[]): Case => ({
  form,
  told,
  means: reverted,
  found: reverted,
});
const missed = (form: string, means: number[], ...told: Told[]): Case => ({ form, told, means, found: [] });

const CORPUS: Case[] = [
  both("the button, original squashed", [1], {
    title: 'Revert "Update the README"',
    headRef: "revert-1-changes",
    body: "Reverts acme/app#1",
    commits: [commit(said(SHA[1]))],
  }),
  both("the button, original merged by a merge commit: no sha anywhere", [2], {
    headRef: "revert-2-changes",
    body: "Reverts acme/app#2",
    commits: [commit('Revert "Update the README"')],
  }),
  both("the button, with a reason written around it", [1], {
    body: "It broke the build.\r\n\r\nReverts acme/app#1\r\n\r\nGateway-Session: a",
  }),
  both("the button in a repository that was renamed since", [1], { body: "Reverts old-acme/app#1" }),
  both("the short form", [3], { body: "Reverts #3" }),
  both("a carriage return behind the number", [3], { body: "Reverts acme/app#3\r" }),
  both("several in one body", [1, 2], { body: "Reverts #1\nReverts #2" }),
  both("the branch of the button, its body written anew", [2], {
    headRef: "revert-2-feature/login",
    body: "The login is broken.",
  }),
  both("git revert, its message as the body", [1], { body: said(SHA[1]) }),
  both("git revert of a merge commit", [2], {
    body: `This reverts commit ${SHA[2]}, reversing\nchanges made to ${OTHER}.`,
  }),
  both("git revert, the sha in its commit alone", [1], {
    title: 'Revert "Update the README"',
    body: "Please review.",
    commits: [commit(said(SHA[1]))],
  }),
  both("the same under any title and branch", [3], {
    title: "Fix the build",
    headRef: "fix",
    commits: [commit("Add a test"), commit(said(SHA[3])), commit("Fix typo")],
  }),
  both("git revert of a merge commit, in its commit alone", [2], {
    commits: [
      commit(`Revert "Merge"\n\nThis reverts commit ${SHA[2]}, reversing\nchanges made to ${OTHER}.`),
    ],
  }),
  both("several shas in one commit", [1, 2, 3], {
    commits: [commit([SHA[1], SHA[2], SHA[3]].map((it) => `This reverts commit ${it}.`).join("\n\n"))],
  }),
  both("one commit per revert", [1, 2], {
    commits: [commit(said(SHA[1])), commit(said(SHA[2]))],
  }),
  both("with CRLF line ends in the commit", [1], {
    commits: [commit(`Revert\r\n\r\nThis reverts commit ${SHA[1]}.\r\n`)],
  }),
  both(
    "a revert of the revert, by the button: the original stands again",
    [9],
    { body: "Reverts acme/app#1", sha: sha(9) },
    {
      title: 'Revert "Revert "Update the README""',
      headRef: "revert-9-revert-1",
      body: "Reverts acme/app#9",
    },
  ),
  both(
    "the same by newer git: Reapply",
    [9],
    { commits: [commit(said(SHA[1]))], sha: sha(9) },
    { title: 'Reapply "Update the README"', commits: [commit(said(sha(9), 'Reapply "Update the README"'))] },
  ),
  both(
    "reverted, reapplied and reverted again",
    [1, 10],
    { body: "Reverts #1", sha: sha(9) },
    { body: "Reverts #9", sha: sha(10) },
    { body: "Reverts #10" },
  ),
  both(
    "a release that carries another's revert, which is taken back later",
    [9],
    { body: "Reverts #1", sha: sha(9) },
    { title: "Release 1.2", headRef: "develop", commits: [commit(said(SHA[1]), sha(9))] },
    { body: "Reverts #9" },
  ),
  both("undone within the branch", [], {
    commits: [commit(said(SHA[1]), OTHER), commit(said(OTHER))],
  }),
  both("an ordinary change whose branch had a revert of its own", [], {
    commits: [commit("Try this", OTHER), commit(said(OTHER)), commit("Do it right")],
  }),
  both("a squashed message that lists such a revert, as the body", [], {
    body: `* Try this\n* Revert "Try this"\n\nThis reverts commit ${OTHER}.`,
  }),
  both("never merged", [], { body: "Reverts #1", merged: false }),
  both("another project's", [], { body: "Reverts other/app#1" }),
  both("itself", [], { body: "Reverts #9" }),
  both("what was never merged", [], { body: "Reverts #8" }),
  both("quoted", [], { body: "> Reverts #1" }),
  both("in code", [], { body: "```\nReverts #1\n```" }),
  both("in a comment of a template", [], { body: "<!-- Reverts #1 -->" }),
  both("a part of it", [], { body: "Reverts parts of #1" }),
  both("a mention", [], { body: "See #1, which reverts the old way." }),
  missed("title only: git's", [1], { title: 'Revert "Update the README"' }),
  missed("title only: squashed, with the number inside", [1], { title: 'Revert "Update the README (#1)"' }),
  missed("title only: Reland of the original", [], { title: "Reland: Update the README" }),
  missed("title only: back out", [1], { title: "Back out the README" }),
  missed("free text about a part", [1], { title: "revert readme change", body: "It was wrong." }),
  missed("a sha that no merge has: reverted commit by commit after a rebase", [1], {
    commits: [commit(said(sha("a commit that the rebase made")))],
  }),
  missed("an abbreviated sha", [1], { body: `This reverts commit ${SHA[1].slice(0, 12)}.` }),
];

describe("the corpus of reverts", () => {
  let own: Awaited<ReturnType<typeof testDatabase>>;
  let database: ReturnType<typeof openDatabase>;

  beforeAll(async () => {
    own = await testDatabase();
    database = openDatabase(own.url, { name: "test", max: 2, statementTimeoutMs: 60_000 });
    const worlds = CORPUS.map(({ told }, index) => world(`org${index}`, told));
    await database.db.insert(repositories).values(CORPUS.map((_, index) => repository(`org${index}`)));
    await database.db.insert(pullRequests).values(worlds.flatMap((it) => it.rows));
    await database.db.insert(pullRequestCommits).values(worlds.flatMap((it) => it.commits));
  });
  afterAll(async () => {
    await database.close();
    await own.close();
  });

  async function found(index: number): Promise<number[]> {
    const { text, params } = revertsQuery(`org${index}`);
    const rows = await database.sql.unsafe<{ reverter: string; original: string }[]>(text, [
      ...params,
    ] as string[]);
    return revertedBy(rows)
      .map((id) => Number(id.split("#")[1]))
      .sort((a, b) => a - b);
  }

  test.each(CORPUS.map((it, index) => [it.form, index, it.found] as const))(
    "%s",
    async (_, index, expected) => {
      expect(await found(index)).toEqual([...expected]);
    },
  );

  test("what is found is right, and what is missed is told by titles or unknown commits alone", async () => {
    let right = 0;
    let wrong = 0;
    let lost = 0;
    for (const [index, { means }] of CORPUS.entries()) {
      const all = await found(index);
      right += all.filter((it) => means.includes(it)).length;
      wrong += all.filter((it) => !means.includes(it)).length;
      lost += means.filter((it) => !all.includes(it)).length;
    }
    const precision = right / (right + wrong);
    const recall = right / (right + lost);
    process.stdout.write(
      `reverts: ${CORPUS.length} forms, precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} ` +
        `(${right} found, ${wrong} wrong, ${lost} missed, all of them without a known number or commit)\n`,
    );
    expect(precision).toBe(1);
    expect(lost).toBe(CORPUS.flatMap((it) => (it.found.length === 0 ? it.means : [])).length);
  });
});

const REPOSITORY_ID = 1;
const repository = (orgId: string) => ({
  orgId,
  id: REPOSITORY_ID,
  fullName: "acme/app",
  formerNames: ["old-acme/app"],
  changedAt: "2026-11-01T00:00:00.000Z",
});

/** Three merges, an open one (8), and then those of the case from 9 on. */
function world(orgId: string, told: readonly Told[]) {
  const before: [number, Told][] = ([1, 2, 3] as const).map((n) => [n, { sha: SHA[n] }]);
  const all: [number, Told][] = [
    ...before,
    [8, { merged: false }],
    ...told.map((it, i): [number, Told] => [9 + i, it]),
  ];
  return {
    rows: all.map(([number, it]) => ({ orgId, ...rowOf(number, it) })),
    commits: all.map(([number, { commits = [] }]) => ({
      orgId,
      repositoryId: REPOSITORY_ID,
      number,
      readAt: "2026-11-30T00:00:00.000Z",
      claims: readCommitClaims(commits),
    })),
  };
}

function rowOf(number: number, { merged, sha: mergeCommitSha = sha(number), ...options }: Told) {
  const at = `2026-11-${String(number).padStart(2, "0")}T10:00:00Z`;
  const reduced = reduce(
    "pull_request",
    pullRequestPayload({
      ...options,
      number,
      repository: { id: REPOSITORY_ID, fullName: "acme/app" },
      action: merged === false ? "opened" : "closed",
      mergeCommitSha,
      at,
      ...(merged === false ? {} : { mergedAt: at }),
    }),
    new Date(at),
  );
  if (reduced.kind !== "facts" || reduced.event !== "pull_request") throw new Error("no facts");
  return pullRequestAfter(null, { deliveryId: null, facts: reduced.facts });
}
