import type { FakeGithub } from "#test/support/fake-github/fake-github.ts";
import type { Repository } from "#test/support/fake-github/world.ts";

/** A moment of November 2026, counted in minutes. */
const at = (minute: number) => new Date(Date.UTC(2026, 10, 2, 8, minute)).toISOString().replace(".000", "");

const BOT = { id: 5, login: "renovate[bot]", type: "Bot" } as const;

/** Repositories with `count` pull requests in all, of which nothing was ever delivered. */
export async function fillRepositories(github: FakeGithub, count: number): Promise<Repository[]> {
  const { story } = github;
  const repositories = ["octo/big", "octo/middle", "octo/small"].map((name) =>
    story.addRepository(name, { createdAt: at(0), updatedAt: at(0) }),
  );
  const silent = { silent: true };
  for (let n = 0; n < count; n++) {
    const repository = repositories[n % 10 < 6 ? 0 : n % 10 < 9 ? 1 : 2] as Repository;
    const pull = await story.openPullRequest(
      {
        repository,
        body: BODIES[n % BODIES.length]?.(n) ?? null,
        at: at(n),
        user: n % 11 === 0 ? BOT : n % 97 === 0 ? null : { id: 2, login: `dev-${n % 50}`, type: "User" },
        headRef: n % 29 === 0 && n > 29 ? `revert-${n - 20}-x` : `branch-${n}`,
        headRepository: n % 13 === 0 ? "deleted" : null,
      },
      silent,
    );
    if (n % 5 === 0)
      await story.submitReview(pull, { body: `Gateway-Session: r${n}`, at: at(n + 1) }, silent);
    if (n % 7 === 0) continue;
    await (n % 8 === 0 ? story.close : story.merge)(pull, { ...silent, at: at(n + 2) });
  }
  return repositories;
}

const BODIES: ((n: number) => string | null)[] = [
  (n) => `Change.\r\n\r\nGateway-Session: s${n}\r\n`,
  () => null,
  (n) => `Gateway-Session: s${n}`,
  (n) => `Gateway-Session: a${n}\nGateway-Session: b${n}`,
  () => "Gateway-Session: known",
  (n) => `Reverts #${Math.max(1, n - 9)}\n\nGateway-Session: s${n}`,
];

/**
 * What happens in one more installation while the App watches: each deed is listed at GitHub as a delivery that failed,
 * to be delivered in whatever order a schedule says.
 */
export async function liveStory(github: FakeGithub) {
  const { story } = github;
  const lost = { lost: true };
  const live = story.addRepository("octo/live", { createdAt: at(0), updatedAt: at(0) });
  const side = story.addRepository("octo/side", { createdAt: at(0), updatedAt: at(0) });
  const installation = await story.install(
    { id: 2, repositories: [live], account: LIVE_ACCOUNT, createdAt: at(1), updatedAt: at(1) },
    lost,
  );
  const open = (values: object, minute: number) =>
    story.openPullRequest({ repository: live, at: at(minute), ...values }, lost);

  const first = await open({ body: "text" }, 10);
  // Within the second of the opening.
  await story.editBody(first, "Gateway-Session: known", { ...lost, at: at(10) });
  const review = await story.submitReview(first, { body: "Gateway-Session: r1", at: at(11) }, lost);
  await story.push(first, { sha: "d".repeat(40), message: "more" }, { ...lost, at: at(12) });
  await story.editReview(review, first, "Gateway-Session: r2", { ...lost, at: at(13) });
  await story.merge(first, { ...lost, at: at(14) });
  await story.rename(live, "octo/alive", { ...lost, at: at(15) });

  const fork = await open({ body: "Gateway-Session: unknown", headRepository: "deleted" }, 20);
  await story.merge(fork, { ...lost, at: at(21) });
  await story.editBody(fork, "Gateway-Session: known\r\n", { ...lost, at: at(22) });

  const bot = await open({ user: BOT, body: null }, 30);
  await story.merge(bot, { ...lost, at: at(31) });

  const revert = await open({ body: "Reverts octo/alive#1", headRef: "revert-1-branch-1" }, 40);
  await story.merge(revert, { ...lost, at: at(41) });
  const again = await open({ body: `This reverts commit ${revert.mergeCommitSha}.` }, 42);
  await story.submitReview(again, { body: "", at: at(43) }, lost);
  await story.merge(again, { ...lost, at: at(44) });

  const left = await open({ body: "Gateway-Session: a\nGateway-Session: b" }, 50);
  const dismissed = await story.submitReview(left, { body: "Gateway-Session: r3", at: at(51) }, lost);
  await story.dismissReview(dismissed, left, { ...lost, at: at(52) });
  await story.close(left, { ...lost, at: at(53) });
  await open({ body: "Gateway-Session: known" }, 60);

  await story.addToInstallation(installation, [side], lost);
  await story.suspend(installation, lost);
  await story.unsuspend(installation, lost);
  return { live, side, installation };
}

const LIVE_ACCOUNT = { id: 77, login: "octo", type: "Organization" } as const;
