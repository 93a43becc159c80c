import type { Sigmoid } from "./calibration.ts";
import type { TaskKind } from "./kinds.ts";
import type { Rows } from "./sparse.ts";
import type { Starter } from "./starter.ts";
import type { BlockWeights } from "./tuning.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Increased when features or the stored form change: a model of another format is trained again. */
export const MODEL_FORMAT = 10;

/** A route as the classifier sees it. `examples` are texts; their position in the list is their id. */
export type RouteInput = {
  name: string;
  description: string;
  examples: readonly string[];
  keywords: readonly string[];
};

/** `strictness`: the share of fitting texts that may fall to the default route so that foreign ones do. */
export type TrainInput = { routes: readonly RouteInput[]; strictness: 0.02 | 0.05 | 0.1 };

/** A class of the model: a route, or a kind of task that no route takes (hidden: it can only reject). */
export type ClassName = { kind: "route"; name: string } | { kind: "hidden"; name: TaskKind };

export type TrainReport = {
  /** Cross-validated accuracy on the examples (0 to 1); null under 8 examples per route. */
  accuracy: number | null;
  examples: number;
  /** Routes confused with each other, most often first. */
  confused: { route: string; with: string; count: number }[];
  misfits: { route: string; exampleId: string; looksLike: string }[];
};

export type Model = {
  format: number;
  starter: Starter;
  vocabulary: Vocabulary;
  blocks: BlockWeights;
  classes: readonly ClassName[];
  /** The routes that take the texts of each kind of task, in the order of `TASK_KINDS`; empty if that is unknown. */
  takers: readonly (readonly string[])[];
  /** `weights[column * classes + class]`, then the biases. */
  weights: Float32Array;
  threshold: number;
  sigmoid: Sigmoid;
  /** Examples to point at: their vectors scaled to length 1, their classes and ids. */
  nearest: { rows: Rows; classOf: Int32Array; ids: readonly string[] };
  report: TrainReport;
};
