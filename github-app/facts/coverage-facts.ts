import type { Static } from "@sinclair/typebox";
import type { CoverageChange, FactsOf, InstallationFacts } from "./facts.ts";
import type { InstallationPayload, InstallationRepositoriesPayload, RepositoryPayload } from "./payloads.ts";
import { checkedTime, installedOn, sightingOf } from "./sighting.ts";

/** What a delivery of `installation` says: its state, and at its creation the repositories. */
export function installationFacts(
  payload: Static<typeof InstallationPayload>,
  receivedAt: Date,
): InstallationFacts {
  const { action, installation: it } = payload;
  const seen = action === "created" ? (payload.repositories ?? []) : [];
  return {
    action,
    installation: { id: it.id },
    sightings: seen.map((one) => ({
      id: one.id,
      fullName: one.full_name,
      formerNames: [],
      installationId: it.id,
      covered: true,
      at: checkedTime(it.created_at),
    })),
    coverage: installationCoverage(payload, receivedAt),
    accountLogin: it.account.login,
    accountId: it.account.id,
    state: action === "deleted" ? "removed" : it.suspended_at ? "suspended" : "active",
    at: checkedTime(it.updated_at),
  };
}

/** GitHub tells when an installation was made and when it was suspended; of its other changes, only that they happened. */
function installationCoverage(
  { action, installation: it, repositories = [] }: Static<typeof InstallationPayload>,
  receivedAt: Date,
): CoverageChange[] {
  const all = { installationId: it.id, repositoryId: 0 };
  const heardAt = receivedAt.toISOString();
  switch (action) {
    case "created":
      return repositories.map(({ id }) => ({
        installationId: it.id,
        repositoryId: id,
        kind: "added" as const,
        at: checkedTime(it.created_at),
      }));
    case "suspend":
      return [{ ...all, kind: "suspended", at: checkedTime(it.suspended_at ?? heardAt) }];
    case "unsuspend":
      return [{ ...all, kind: "unsuspended", at: heardAt }];
    case "deleted":
      return [{ ...all, kind: "uninstalled", at: heardAt }];
    default:
      return [];
  }
}

/** What a delivery of `installation_repositories` says. GitHub sends no time with it, so `receivedAt` stands for it. */
export function coverageFacts(
  payload: Static<typeof InstallationRepositoriesPayload>,
  receivedAt: Date,
): FactsOf<"installation_repositories"> {
  const at = receivedAt.toISOString();
  const installationId = payload.installation.id;
  const seen = (covered: boolean) => (one: { id: number; full_name: string }) => ({
    id: one.id,
    fullName: one.full_name,
    formerNames: [],
    installationId,
    covered,
    at,
  });
  const sightings = [
    ...payload.repositories_added.map(seen(true)),
    ...payload.repositories_removed.map(seen(false)),
  ];
  return {
    action: payload.action,
    installation: { id: installationId },
    sightings,
    coverage: sightings.map(({ id, covered }) => ({
      installationId,
      repositoryId: id,
      kind: covered ? "added" : "removed",
      at,
    })),
  };
}

/** What a delivery of `repository` says: the name that it has, and the one that it had. */
export function repositoryFacts(payload: Static<typeof RepositoryPayload>): FactsOf<"repository"> {
  const at = checkedTime(payload.repository.updated_at);
  const [owner = "", name = ""] = payload.repository.full_name.split("/");
  const { changes } = payload;
  const formerOwner = (changes?.owner?.from.user ?? changes?.owner?.from.organization)?.login ?? owner;
  const former = `${formerOwner}/${changes?.repository?.name.from ?? name}`;
  return {
    action: payload.action,
    installation: installedOn(payload),
    sightings: [{ ...sightingOf(payload, at), formerNames: former === `${owner}/${name}` ? [] : [former] }],
  };
}
