import { NO_USAGE, type Usage } from "#shared/usage.ts";
import { ERRORS, type ErrorType, type GatewayError } from "../errors.ts";
import type { Reading, StreamReader } from "../reading.ts";
import type { ProviderFacts } from "./provider-facts.ts";

/** Members of an error body besides its message; only Anthropic's clients read `details`. */
export type ErrorContext = { requestId: string; details: GatewayError["details"] };

/** A wire: how usage is read from its answers, and how the gateway's own errors are written on it. */
export type Wire = {
  /** Reads a complete JSON answer from its decoded bytes. Never throws: an unreadable answer has no usage. */
  readAnswer(bytes: Uint8Array, facts: ProviderFacts, headers?: Pick<Headers, "get">): Reading;
  /** Opens a reader of one stream. The reader never throws. */
  openStream(facts: ProviderFacts): StreamReader;
  /** Whether an event that begins with `data` may hold only usage. Once false, false for every longer prefix. */
  mayBeUsageOnly(data: Uint8Array): boolean;
  /** An error of the gateway's own in this wire's shape. */
  errorBody(type: ErrorType, message: string, context: ErrorContext): string;
  requestIdHeader: string;
  /** Its streams have no terminal event: they are complete when the body ends. */
  endsWithBody?: boolean;
  /** The same, but the answer must have said that it has ended (`allSeen`). */
  noLastEvent?: boolean;
  /** Answers other than event streams are passed through unread. */
  opaque?: boolean;
  /** Streams may come in the binary form of AWS. */
  awsFrames?: boolean;
};

/** What the OpenAI wires have in common. */
export const OPENAI_LIKE_WIRE: Pick<Wire, "errorBody" | "requestIdHeader" | "mayBeUsageOnly"> = {
  errorBody: (type, message) =>
    JSON.stringify({ error: { message, type: ERRORS[type].openai, param: null, code: codeOf(type) } }),
  requestIdHeader: "x-request-id",
  mayBeUsageOnly: () => false,
};

const codeOf = (type: ErrorType): string => {
  const facts = ERRORS[type];
  return "code" in facts ? facts.code : type;
};

/** The figures that a reader found in an answer. */
export type AnswerFacts = {
  usage: Usage | null;
  model: string | null;
  tier: string | null;
  /** No later figure can come. */
  final: boolean;
  /** The name of an error in the answer. */
  failure?: string | undefined;
  /** Its cost as the provider reported it (reported-cost.ts). */
  cost?: string | null;
  /** Something is billed that `usage` does not count. A cost that the provider reports covers it. */
  billsMore?: boolean;
  variant?: string | null;
  /** Of transcribed sound, as the provider bills it. */
  audioSeconds?: number | null;
  keptId?: string | null | undefined;
  keptIds?: readonly string[];
};

/** An answer without any of these counts has no usage. */
const BILLABLE_COUNTS = ["uncachedInputTokens", "outputTokens", "images", "searchUnits"] as const;

export function readingOf(answer: AnswerFacts): Reading {
  const { usage, model, tier, final, keptId = null, keptIds = [], cost = null, billsMore, failure } = answer;
  const { variant = null, audioSeconds = null } = answer;
  const counted = usage !== null && BILLABLE_COUNTS.some((count) => usage[count] !== null);
  const known = counted || audioSeconds !== null;
  const whole = final && (cost !== null || !billsMore);
  return {
    usage: counted ? usage : NO_USAGE,
    usageSource: known ? (whole ? "provider" : "partial") : "none",
    responseModel: model,
    serviceTier: tier,
    ...(keptId !== null && { keptId }),
    ...(keptIds.length > 0 && { keptIds }),
    ...(failure !== undefined && { failure }),
    ...(variant !== null && { variant }),
    ...(audioSeconds !== null && { audioSeconds }),
    reportedCostUsd: cost,
  };
}
