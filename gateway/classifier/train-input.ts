import type { Route } from "../directory.ts";
import { CUES } from "./cues.ts";
import { isTemplate, SEEDS } from "./kinds.ts";
import { MODEL_FORMAT, type RouteInput, type TrainInput } from "./model.ts";
import { TUNING } from "./tuning.ts";

/** The share of fitting texts that may fall to the default route, so that texts which fit nowhere do. */
const STRICTNESS = 0.05;

/** What training needs of a route. */
type RouteText = Pick<
  Route,
  "name" | "surface" | "provider" | "description" | "examples" | "keywords" | "enabled"
>;

/**
 * What the classifier is trained on: the enabled chat routes with something to learn from (examples, description,
 * keywords) or have a template's name, sorted by name. Null if there is no such route: then nothing is classified.
 */
export function trainInputOf(all: Iterable<RouteText>): TrainInput | null {
  const routes = [...all]
    .filter((route) => route.enabled && route.surface === "chat" && !isFirstRoute(route) && hasText(route))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(inputOf);
  return routes.length === 0 ? null : { routes, strictness: STRICTNESS };
}

const hasText = ({ name, description, examples, keywords }: RouteText): boolean =>
  isTemplate(name) || description.trim() !== "" || examples.length > 0 || keywords.length > 0;

/** The built-in echo route is a fallback. Texts are classified to it only if an administrator gives it examples or keywords. */
const isFirstRoute = ({ name, provider, examples, keywords }: RouteText): boolean =>
  name === "echo" && provider === "echo" && examples.length === 0 && keywords.length === 0;

const inputOf = ({ name, description, examples, keywords }: RouteText): RouteInput => ({
  name,
  description,
  examples,
  keywords,
});

const VERSION_CHARACTERS = 16;

const digestOf = (value: unknown): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(value)).digest("hex");

/** The part of a version that depends on the build: format, tuned numbers, built-in examples and cues. */
let built: string | null = null;

/** A model's version: the same routes and build give the same one, and as training is deterministic, replicas agree. */
export function versionOf({ routes, strictness }: TrainInput): string {
  built ??= digestOf([MODEL_FORMAT, TUNING, SEEDS, CUES]);
  const texts = routes.map(({ name, description, examples, keywords }) => [
    name,
    description,
    examples,
    keywords,
  ]);
  return digestOf([built, strictness, texts]).slice(0, VERSION_CHARACTERS);
}
