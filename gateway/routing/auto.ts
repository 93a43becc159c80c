import type { ClientKey, Directory, Route } from "../directory.ts";
import type { SurfaceName } from "../surface-facts.ts";
import { type Classification, classify, routeOf, type Verdict } from "./classify/classify.ts";
import type { Model } from "./classify/model.ts";
import { inScope, usableRoutes } from "./scope.ts";
import { servingRoute, servingRoutes } from "./targets.ts";

/** A trained classifier, and the name that records have of it. */
export type TrainedRoutes = { model: Model; version: string };

/** What `auto` may choose from. */
export type AutoCandidates = {
  /** The surface's routes that the key may use, in the order of their names. */
  routes: readonly Route[];
  /** The default route, if it serves the surface and the key may use it. */
  standard: Route | null;
};

/** Where `auto` sends a text. `default`: no route was likely enough, or nothing could be classified. */
export type AutoChoice = {
  route: Route;
  source: "classifier" | "default";
  /** Of the classifier that was asked; null where none was. */
  version: string | null;
};

type Asked = { directory: Directory; surface: SurfaceName; key: ClientKey };

export function autoCandidates({ directory, surface, key }: Asked): AutoCandidates {
  const usable = new Set(usableRoutes(directory, key));
  const defaultRoute = servingRoute(directory, surface, directory.settings.default_route);
  return {
    routes: servingRoutes(directory, surface).filter((route) => usable.has(route)),
    standard: defaultRoute && inScope(directory, key, defaultRoute) ? defaultRoute : null,
  };
}

/**
 * The route for a text (null: the user wrote none). Below the threshold the default route; where the key may not use
 * that, the likeliest route which it may use. Null where there is neither.
 */
export function autoChoice(
  offer: AutoCandidates,
  trained: TrainedRoutes | null,
  text: string | null,
): AutoChoice | null {
  const asked = text === null ? null : trained;
  const verdict = asked && routeOf(asked.model, text ?? "", namesOf(offer));
  return settled(offer, verdict, asked?.version ?? null);
}

/** The same choice, and why. `confidence` and `why` are null where nothing classifies. */
export type ExplainedChoice = AutoChoice &
  Pick<Classification, "reason" | "matched" | "candidates"> & {
    confidence: number | null;
    why: Classification["why"] | null;
  };

/** What `autoChoice` decides for the text, explained. */
export function explainAutoChoice(
  offer: AutoCandidates,
  trained: TrainedRoutes | null,
  text: string,
): ExplainedChoice | null {
  const verdict = trained && classify(trained.model, text, namesOf(offer));
  const choice = settled(offer, verdict, trained?.version ?? null);
  if (!choice) return null;
  const { confidence = null, matched = [], candidates = [], why = null } = verdict ?? {};
  const found = verdict?.reason ?? "no route says what it is for";
  const reason = choice.source === "classifier" ? found : `${found}; ${standIn(offer)}`;
  return { ...choice, confidence, reason, matched, candidates, why };
}

const standIn = ({ standard }: AutoCandidates): string =>
  standard
    ? "the default route answers"
    : "the default route is not open to this key, so the likeliest that is answers";

const namesOf = ({ routes }: AutoCandidates): ReadonlySet<string> => new Set(routes.map(({ name }) => name));

function settled(offer: AutoCandidates, verdict: Verdict | null, version: string | null): AutoChoice | null {
  const named = (wanted: string | null | undefined) =>
    offer.routes.find(({ name }) => name === wanted) ?? null;
  const certain = named(verdict?.route);
  if (certain) return { route: certain, source: "classifier", version };
  const route = offer.standard ?? named(verdict?.best) ?? offer.routes[0];
  return route ? { route, source: "default", version } : null;
}
