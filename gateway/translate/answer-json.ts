import { isJson, type Json } from "./exact-json.ts";
import type { ReplyStep } from "./reply.ts";

/** Readers of a provider's answer: a missing member, or one of another type, is null. */
export const textIn = (object: Json | null, name: string): string | null => {
  const value = object?.[name];
  return typeof value === "string" ? value : null;
};

export const objectMember = (object: Json | null, name: string): Json | null => {
  const value = object?.[name];
  return isJson(value) ? value : null;
};

export const objectsIn = (object: Json | null, name: string): Json[] => {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isJson) : [];
};

/** Reads one stream of a provider, event by event. */
export type StepReader = {
  event(data: Json | "[DONE]"): ReplyStep[];
  /** The stream has ended: what was still held back. */
  rest(): ReplyStep[];
};
