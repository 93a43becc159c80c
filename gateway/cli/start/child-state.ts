import type { Log } from "#shared/log.ts";
import type { Beginning, ChildProcess, ChildProgram } from "./child-process.ts";

export type ChildSpec = ChildProgram & {
  name: string;
  log: Log;
  /** How many processes share its work. */
  processes: number;
};

/** What one process at a time is in. */
export type ChildPlace = { current: ChildProcess };

export type State = {
  spec: ChildSpec;
  begin(beginning: Beginning): ChildProcess;
  all: ReadonlySet<ChildProcess>;
  stopping: AbortSignal;
  /** The others are filled once the process of the first one serves. */
  places: ChildPlace[];
  /** Successors that are not ready yet may still take the present ones' places. */
  replacing: Promise<boolean> | null;
};
