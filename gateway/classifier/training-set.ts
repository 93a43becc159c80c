import { type Features, featuresOf } from "./features.ts";
import { isPreferred, isTemplate, SEEDS, TASK_KINDS, type TaskKind, templateFor } from "./kinds.ts";
import type { ClassName, RouteInput, TrainInput } from "./model.ts";
import { featuresOfSeeds, heldKindScores, kindScores, type Starter } from "./starter.ts";
import { TUNING } from "./tuning.ts";

/** One text to train on. `real` ones are the administrator's examples: accuracy and threshold are measured on them. */
export type Sample = {
  features: Features;
  kinds: ArrayLike<number>;
  label: number;
  weight: number;
  source: "example" | "builtin" | "hint";
  id: string;
};
export type TrainingSet = {
  classes: ClassName[];
  samples: Sample[];
  /** Most routes' own texts are of the same kind of task, so kinds cannot separate the routes. */
  oneKind: boolean;
  /** Which routes take the texts of each kind, in the order of `TASK_KINDS`; empty if that is unknown. */
  takers: string[][];
};

/** Descriptions are split here, so that each task in a list of tasks is an example of its own. */
const DESCRIPTION_PARTS = /[;:,.、，。；：]|\s(?:or|and|oder|und|ou|et|y|e|и)\s/u;
const PART_MIN_CHARACTERS = 4;

/** Templates with fewer examples of their own keep all their kinds, whatever the examples look like. */
const NAMESAKE_EXAMPLES_MIN = 5;
/** Of a route that does not have a template's name, this many examples show which kinds of task its texts are. */
const TELLING_EXAMPLES_MIN = 10;

const topKind = (scores: ArrayLike<number>): number => {
  let best = 0;
  for (let kind = 1; kind < scores.length; kind++) if ((scores[kind] ?? 0) > (scores[best] ?? 0)) best = kind;
  return best;
};

function textsOf(
  route: RouteInput,
): { text: string; weight: number; source: Sample["source"]; id: string }[] {
  const description = route.description.trim();
  const parts = description
    .split(DESCRIPTION_PARTS)
    .map((part) => part.trim())
    .filter((part) => part.length >= PART_MIN_CHARACTERS && part !== description);
  return [
    ...route.examples.map((text, at) => ({
      text,
      weight: 1,
      source: "example" as const,
      id: `examples/${at}`,
    })),
    ...(description ? [{ text: description, weight: 1, source: "hint" as const, id: "description" }] : []),
    ...parts.map((text) => ({ text, weight: TUNING.partWeight, source: "hint" as const, id: "description" })),
    ...route.keywords.map((text) => ({ text, weight: 1, source: "hint" as const, id: "keywords" })),
  ];
}

/** Whether most routes that have texts have most of them in the kind that is the most frequent overall. */
function areOneKind(shares: readonly Float64Array[]): boolean {
  const tops = shares.filter((share) => share.some((part) => part > 0)).map(topKind);
  const counts = TASK_KINDS.map((_, kind) => tops.filter((top) => top === kind).length);
  return tops.length > 1 && Math.max(...counts) > tops.length / 2;
}

/** A route's own texts, and how they spread over the kinds of task. */
function ownSamples(
  starter: Starter,
  routes: readonly RouteInput[],
): { samples: Sample[]; shares: Float64Array[] } {
  const shares = routes.map(() => new Float64Array(TASK_KINDS.length));
  const samples = routes.flatMap((route, label) =>
    textsOf(route).map(({ text, ...rest }) => {
      const features = featuresOf(text);
      return { ...rest, label, features, kinds: kindScores(starter, features) };
    }),
  );
  const totals = new Float64Array(routes.length);
  for (const { label, kinds, weight } of samples) {
    const share = shares[label];
    const top = topKind(kinds);
    if (share) share[top] = (share[top] ?? 0) + weight;
    totals[label] = (totals[label] ?? 0) + weight;
  }
  for (const [label, share] of shares.entries()) {
    for (let kind = 0; kind < share.length; kind++) share[kind] = (share[kind] ?? 0) / (totals[label] || 1);
  }
  return { samples, shares };
}

/** How each route's own texts spread over the kinds, and whether most routes are of one and the same kind. */
type Spread = { shares: readonly Float64Array[]; oneKind: boolean };
type Owner = { route: number; weight: number } | "covered" | null;

/** The route whose own texts look most like a kind, if enough of them do. Close topics adopt no kind: they are far narrower. */
function closestRoute(column: number, { shares, oneKind }: Spread): Owner {
  let best = 0;
  for (let each = 1; each < shares.length; each++) {
    if ((shares[each]?.[column] ?? 0) > (shares[best]?.[column] ?? 0)) best = each;
  }
  const share = shares[best]?.[column] ?? 0;
  const isTop = share >= Math.max(...(shares[best] ?? []));
  const adopts = share >= (isTop ? TUNING.adoptShareTop : TUNING.adoptShare);
  if (adopts && !oneKind) return { route: best, weight: TUNING.besideOwn };
  return adopts || share >= TUNING.coveredShare ? "covered" : null;
}

/** Who takes a kind's built-in examples: the template of that name, else a route whose own texts are of that kind. */
function ownerOf(kind: TaskKind, routes: readonly RouteInput[], spread: Spread): Owner {
  const column = TASK_KINDS.indexOf(kind);
  const template = templateFor(kind, new Set(routes.map(({ name }) => name)));
  const named = routes.findIndex(({ name }) => name === template);
  const route = routes[named];
  if (!route) return closestRoute(column, spread);
  const own = route.examples.length;
  if (own < NAMESAKE_EXAMPLES_MIN) return { route: named, weight: own === 0 ? 1 : TUNING.besideOwn };
  // With examples of its own, a template takes only its first kind, and only if the examples match its name.
  const share = spread.shares[named]?.[column] ?? 0;
  if (share >= TUNING.namesakeShare && isPreferred(kind, route.name))
    return { route: named, weight: TUNING.besideOwn };
  return closestRoute(column, spread);
}

/** The routes that a kind's texts are for: its owner, and those that have a good share of their own texts in it. */
function takersOf(
  kind: TaskKind,
  owner: Owner,
  { routes, shares }: { routes: readonly RouteInput[]; shares: readonly Float64Array[] },
): string[] {
  const column = TASK_KINDS.indexOf(kind);
  const takes = (route: number) =>
    (typeof owner === "object" && owner?.route === route) ||
    (shares[route]?.[column] ?? 0) >= TUNING.coveredShare;
  return routes.flatMap(({ name }, route) => (takes(route) ? [name] : []));
}

/** Whether every route's kinds are known: by the name of a template, or by enough examples. */
function kindsTell(routes: readonly RouteInput[]): boolean {
  return routes.every(
    ({ name, description, examples, keywords }) =>
      isTemplate(name) ||
      examples.length >= TELLING_EXAMPLES_MIN ||
      (examples.length === 0 && keywords.length === 0 && description.trim() === ""),
  );
}

/** `count` of the list's entries from all over it. */
export function evenlySampled<T>(list: readonly T[], count: number): T[] {
  if (list.length <= count) return [...list];
  return list.filter(
    (_, at) => Math.floor((at * count) / list.length) !== Math.floor(((at - 1) * count) / list.length),
  );
}

/**
 * Collects what a model is trained on: each route's own texts, the built-in examples of the kinds it takes, and the
 * kinds that no route takes as hidden classes, which recognise texts that the routes are not made for. If a route has no
 * examples of its own, each kind it takes is a class of its own: several classes may name one route.
 */
export function trainingSetOf(starter: Starter, input: TrainInput): TrainingSet {
  const { samples: own, shares } = ownSamples(starter, input.routes);
  const classes: ClassName[] = [];
  const labels = input.routes.map(({ name }, route) =>
    own.some(({ label }) => label === route) ? classes.push({ kind: "route", name }) - 1 : -1,
  );
  const samples = own.map((sample) => ({ ...sample, label: labels[sample.label] ?? -1 }));
  const labelOf = (owner: Owner & object, kind: TaskKind) => {
    const route = input.routes[owner.route];
    const label = labels[owner.route] ?? -1;
    if (label >= 0 && (route?.examples.length ?? 0) > 0) return label;
    return classes.push({ kind: "route", name: route?.name ?? kind }) - 1;
  };
  const oneKind = areOneKind(shares);
  const builtIn = featuresOfSeeds();
  const takers: string[][] = [];
  for (const kind of TASK_KINDS) {
    const owner = ownerOf(kind, input.routes, { shares, oneKind });
    takers.push(takersOf(kind, owner, { routes: input.routes, shares }));
    if (owner === "covered") continue;
    const seeds = SEEDS.map((seed, at) => ({ seed, at })).filter(({ seed }) => seed.kind === kind);
    const label = owner ? labelOf(owner, kind) : classes.push({ kind: "hidden", name: kind }) - 1;
    const weight = owner ? owner.weight : TUNING.hiddenWeight;
    for (const { seed, at } of owner ? seeds : evenlySampled(seeds, TUNING.hiddenMax)) {
      const features = builtIn[at] ?? featuresOf(seed.text);
      const kinds = heldKindScores(starter, at);
      samples.push({ features, kinds, label, weight, source: "builtin", id: seed.id });
    }
  }
  return { classes, samples, oneKind, takers: !oneKind && kindsTell(input.routes) ? takers : [] };
}
