import type { Static } from "@sinclair/typebox";
import type { CoverageChange, FactsOf, InstallationFacts, Sighting } from "./facts.ts";
import type { InstallationPayload, InstallationRepositoriesPayload, RepositoryPayload } from "./payloads.ts";
import { checkedTime, installedOn, sightingOf } from "./sighting.ts";

/** Facts of an `installation` delivery: its state and, on creation, its repositories. */
export function installationFacts(
  payload: Static<typeof InstallationPayload>,
  receivedAt: Date,
): InstallationFacts {
  const { action, installation: it } = payload;
  const seen = action === "created" ? (payload.repositories ?? []) : [];
  return {
    action,
    installation: { id: it.id },
    sightings: seen.map(sightingAt({ installationId: it.id, covered: true, at: checkedTime(it.created_at) })),
    coverage: installationCoverage(payload, receivedAt),
    accountLogin: it.account.login,
    accountId: it.account.id,
    state: action === "deleted" ? "removed" : it.suspended_at ? "suspended" : "active",
    permissions: it.permissions ?? null,
    at: checkedTime(it.updated_at),
  };
}

type Seen = { id: number; full_name: string; private?: boolean | null };

const sightingAt =
  (it: Pick<Sighting, "installationId" | "covered" | "at">) =>
  ({ id, full_name, private: isPrivate = null }: Seen): Sighting => ({
    ...it,
    id,
    isPrivate,
    fullName: full_name,
    formerNames: [],
  });

/** GitHub sends the times of an installation's creation and suspension; other changes get the time of the delivery. */
function installationCoverage(
  { action, installation: it, repositories = [] }: Static<typeof InstallationPayload>,
  receivedAt: Date,
): CoverageChange[] {
  const all = { installationId: it.id, repositoryId: 0 };
  const receivedTime = receivedAt.toISOString();
  switch (action) {
    case "created":
      return repositories.map(({ id }) => ({
        installationId: it.id,
        repositoryId: id,
        kind: "added" as const,
        at: checkedTime(it.created_at),
      }));
    case "suspend":
      return [{ ...all, kind: "suspended", at: checkedTime(it.suspended_at ?? receivedTime) }];
    case "unsuspend":
      return [{ ...all, kind: "unsuspended", at: receivedTime }];
    case "deleted":
      return [{ ...all, kind: "uninstalled", at: receivedTime }];
    default:
      return [];
  }
}

/** Facts of an `installation_repositories` delivery. GitHub sends no time with it, so `receivedAt` is used. */
export function coverageFacts(
  payload: Static<typeof InstallationRepositoriesPayload>,
  receivedAt: Date,
): FactsOf<"installation_repositories"> {
  const at = receivedAt.toISOString();
  const installationId = payload.installation.id;
  const sightings = [
    ...payload.repositories_added.map(sightingAt({ installationId, covered: true, at })),
    ...payload.repositories_removed.map(sightingAt({ installationId, covered: false, at })),
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
