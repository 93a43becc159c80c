import type { HeaderView, Target } from "../call.ts";
import type { ErrorType, FailureCause } from "../errors.ts";
import type { Translation } from "./translation.ts";

/** What came of sending a call to its targets: the answer of the last one that was tried, or its failure. */
export type Attempt =
  | {
      kind: "answer";
      answer: Response;
      /** Its headers, read once. */
      headers: HeaderView;
      target: Target;
      attempts: number;
      /** The gateway requested the usage chunk; the client did not. */
      usageRequested: boolean;
      /** An earlier target took the request and gave no answer: it may bill the call as well. */
      maybeBilled?: boolean;
      /** Translates the answer back; null if the call was not translated. */
      translation: Translation | null;
      abort(): void;
    }
  | {
      kind: "failed";
      type: ErrorType;
      /** Null where the gateway itself did not send the call. */
      reason: FailureCause | null;
      target: Target;
      attempts: number;
      cause: unknown;
      /** The provider may have got the request. */
      sent: boolean;
      /** Aborted because the client disconnected. */
      left: boolean;
      maybeBilled?: boolean;
    };
