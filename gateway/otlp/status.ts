import { ERRORS, type ErrorType } from "../errors.ts";

/** HTTP status to google.rpc.Code. */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 12, // UNIMPLEMENTED
  408: 4, // DEADLINE_EXCEEDED
  413: 8, // RESOURCE_EXHAUSTED
  415: 3,
  429: 8,
  502: 14, // UNAVAILABLE
  503: 14,
};
const UNKNOWN = 2;

/** A google.rpc.Status, OTLP's error body. */
export const statusBody = (type: ErrorType, message: string): { code: number; message: string } => ({
  code: RPC_CODES[ERRORS[type].status] ?? UNKNOWN,
  message,
});
