import { ERRORS } from "../errors.ts";
import type { Wire } from "./wires.ts";

/** How the gateway's own errors look on the wires in OpenAI's manner, and where a call's id stands there. */
export const openaiError: Pick<Wire, "errorBody" | "requestIdHeader"> = {
  errorBody: (type, message) =>
    JSON.stringify({ error: { message, type: ERRORS[type].openai, param: null, code: type } }),
  requestIdHeader: "x-request-id",
};
