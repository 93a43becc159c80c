import type { Route } from "../directory.ts";
import { isTemplate } from "./kinds.ts";
import type { RouteInput, TrainInput } from "./model.ts";

/** The share of fitting texts that may fall to the default route, so that texts which fit nowhere do. */
const STRICTNESS = 0.05;

/** What is read of a route. */
type Said = Pick<
  Route,
  "name" | "surface" | "provider" | "description" | "examples" | "keywords" | "enabled"
>;

/**
 * What the classifier is trained on: the enabled chat routes that say something of themselves (examples, description,
 * keywords) or bear a template's name, in the order of their names. Null where there is none: then nothing classifies.
 */
export function trainInputOf(all: Iterable<Said>): TrainInput | null {
  const routes = [...all]
    .filter((route) => route.enabled && route.surface === "chat" && !isFirstStarts(route) && speaks(route))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(inputOf);
  return routes.length === 0 ? null : { routes, strictness: STRICTNESS };
}

const speaks = ({ name, description, examples, keywords }: Said): boolean =>
  isTemplate(name) || description.trim() !== "" || examples.length > 0 || keywords.length > 0;

/** The built-in route answers whom nobody else does. Nothing is sent to it for its text, unless an administrator says so. */
const isFirstStarts = ({ name, provider, examples, keywords }: Said): boolean =>
  name === "echo" && provider === "echo" && examples.length === 0 && keywords.length === 0;

const inputOf = ({ name, description, examples, keywords }: Said): RouteInput => ({
  name,
  description,
  examples,
  keywords,
});
