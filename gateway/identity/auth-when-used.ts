import { once } from "#shared/once.ts";
import type { Auth, AuthOptions } from "./auth.ts";

/** Loads the sign-in library with its first use: it is large, and many gateways never sign anyone in. */
export function authWhenUsed(options: AuthOptions): Auth {
  const auth = once(async () => (await import("./auth.ts")).openAuth(options));
  return {
    handler: async (request) => (await auth()).handler(request),
    signIn: async (opening, request) => (await auth()).signIn(opening, request),
    leave: async (leaving, request) => (await auth()).leave(leaving, request),
    comeBack: async (state, request) => (await auth()).comeBack(state, request),
  };
}
