/** An event that gave or removed the App's access to a repository. */
export type CoverageEvent = {
  at: string;
  installationId: number;
  kind: "added" | "removed" | "suspended" | "unsuspended" | "uninstalled";
};

/** A period in which the App had access to a repository; `until` null: it still has. */
export type CoverageWindow = {
  from: string;
  until: string | null;
  /** What ended it. */
  end: "removed" | "suspended" | "uninstalled" | null;
};

type Sight = { present: boolean; suspended: boolean };

/** The windows of a repository, from its and its installations' events. It is seen while any installation sees it. */
export function coverageWindows(events: readonly CoverageEvent[]): CoverageWindow[] {
  const sights = new Map<number, Sight>();
  const windows: CoverageWindow[] = [];
  for (const event of [...events].sort(inOrder)) {
    sights.set(event.installationId, sightAfter(sights.get(event.installationId), event.kind));
    const seen = [...sights.values()].some(({ present, suspended }) => present && !suspended);
    const open = windows.at(-1)?.until === null ? windows.at(-1) : undefined;
    if (seen && !open) windows.push({ from: event.at, until: null, end: null });
    if (!seen && open) Object.assign(open, { until: event.at, end: endOf(event.kind) });
  }
  return windows;
}

/** At the same time, ends sort before starts: a repository may move. The rest makes the order of arrival irrelevant. */
const inOrder = (a: CoverageEvent, b: CoverageEvent): number =>
  compared(a.at, b.at) ||
  Number(isBeginning(a)) - Number(isBeginning(b)) ||
  a.installationId - b.installationId ||
  compared(a.kind, b.kind);

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isBeginning = ({ kind }: CoverageEvent) => kind === "added" || kind === "unsuspended";

function sightAfter(before: Sight = { present: false, suspended: false }, kind: CoverageEvent["kind"]) {
  switch (kind) {
    case "added":
      return { ...before, present: true };
    case "removed":
      return { ...before, present: false };
    case "suspended":
      return { ...before, suspended: true };
    case "unsuspended":
      return { ...before, suspended: false };
    case "uninstalled":
      return { present: false, suspended: false };
  }
}

const endOf = (kind: CoverageEvent["kind"]): CoverageWindow["end"] =>
  kind === "removed" || kind === "suspended" || kind === "uninstalled" ? kind : null;
