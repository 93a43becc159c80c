import { type Static, Type } from "@sinclair/typebox";
import { closed, fits, oneOf, open } from "#shared/schema.ts";

// What the workers of a gateway send each other. The launcher passes it on: it alone knows all of them.

/** `metrics`: your figures. `refresh`: the configuration has changed, read it. `settle`: store the records of ended calls. */
const QUESTIONS = ["metrics", "refresh", "settle"] as const;
export type WorkerQuestion = (typeof QUESTIONS)[number];

const Id = Type.Integer({ minimum: 0 });

/** A worker asks the others, and gets their answers under its own number. */
export const WorkerAsks = closed({ ask: oneOf(QUESTIONS), id: Id });
export const WorkersReply = closed({ reply: Id, contents: Type.Array(Type.Unknown()) });

/** The launcher puts the question to each, under a number of its own. */
export const WorkerIsAsked = closed({ put: oneOf(QUESTIONS), id: Id });
export const WorkerAnswer = closed({ answer: Id, content: Type.Unknown() });

/** A metric as `prom-client` gives it in `getMetricsAsJSON`. */
const Metric = open({
  name: Type.String(),
  help: Type.String(),
  type: Type.String(),
  aggregator: Type.String(),
  values: Type.Array(open({ value: Type.Number() })),
});
export const Metrics = Type.Array(Metric);
export type Metrics = Static<typeof Metrics>;

/** The last figures of a worker that ends, which waits for the reply. */
export const WorkerLeaves = closed({ parting: Metrics, id: Id });

export const isMetrics = (content: unknown): content is Metrics => fits(Metrics, content);

/** How long a worker has for its answer. */
export const ANSWER_MS = 1000;
