import { Elysia } from "elysia";
import { GatewayError } from "../errors.ts";
import { errorAnswer } from "./error-answers.ts";

const HOST = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?|\[[0-9A-Fa-f:.]{2,}\])(?::\d{1,5})?$/;
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * A host that the router reads as we do. Elysia searches for the path from the URL's eleventh character, so a host of
 * under four characters, or one that contains a slash, would let a request reach another handler than its path says.
 */
const isPlainHost = (host: string | null): boolean =>
  host !== null && host.length >= 4 && host.length <= 255 && HOST.test(host);

/** Refuses requests whose Host or method could mislead the router, and Hosts that are not allowed (null: any). */
export const hostGuard = (allowedHosts: readonly string[] | null) =>
  new Elysia({ name: "plugin.host-guard" }).onRequest(({ request }) => {
    const host = request.headers.get("host");
    if (!METHODS.has(request.method)) return errorAnswer(new GatewayError("method_not_allowed"), request);
    const allowed = !allowedHosts || allowedHosts.includes(host?.replace(/:\d+$/, "").toLowerCase() ?? "");
    if (!isPlainHost(host) || !allowed) {
      return errorAnswer(
        new GatewayError("invalid_request", "The Host header does not name this gateway."),
        request,
      );
    }
    return undefined;
  });

/** The answer where a proxy in front may have read another path than we do. */
export const refusePath = (request: Request): Response =>
  errorAnswer(
    new GatewayError(
      "invalid_request",
      "The path of the address is ambiguous. Send it without backslashes, dot segments and empty segments.",
    ),
    request,
  );
