import { Type } from "@sinclair/typebox";
import type { Database } from "#drizzle/database.ts";
import type { AuditAction } from "#drizzle/schema/audit.ts";
import type { Clock } from "#shared/clock.ts";
import { fits, open } from "#shared/schema.ts";
import { requestIdOf } from "../http/listener.ts";
import { audited } from "../stores/change.ts";
import { newSecret } from "../stores/client-secret.ts";
import { findPerson } from "../stores/identity/people.ts";
import { sessionEnd } from "./session-policy.ts";

export type SessionHooksDeps = {
  database: Database;
  addressOf(request: Request): string | null;
  clock: Clock;
};

/** The library's data on the request behind a change; null without a request. */
type Context = { request?: Request | undefined; path?: string | undefined; body?: unknown } | null;

/** The way in, if this process named it. */
const Way = open({ way: Type.String() });
const wayOf = (context: Context): string | null => (fits(Way, context?.body) ? context.body.way : null);

const USER_AGENT_LENGTH_MAX = 200;

/** Whatever the way in: a session gets its token, role and end here, and the audit log an entry. */
export const sessionHooks = ({ database, addressOf, clock }: SessionHooksDeps) => {
  const note = async (action: AuditAction, personId: string, context: Context) => {
    const way = action === "sign_in" ? wayOf(context) : null;
    const person = await findPerson(database.db, personId);
    const actor = person?.email ?? personId;
    const { request } = context ?? {};
    const origin = {
      actor,
      address: request ? addressOf(request) : null,
      requestId: request ? requestIdOf(request) : null,
      at: clock.now(),
    };
    await audited(
      database,
      origin,
      async (_, audit) => await audit({ action, subject: actor, ...(way !== null && { after: { way } }) }),
    );
  };
  return {
    create: {
      before: async (session: { userId: string }, context: Context) => {
        const person = await findPerson(database.db, session.userId);
        if (!person || person.disabled) return false;
        const now = clock.now();
        const way = wayOf(context);
        return {
          data: {
            userId: person.id,
            token: newSecret("tgs_"),
            role: person.role,
            way,
            expiresAt: sessionEnd({ createdAt: now, now, role: person.role, way }),
            createdAt: now,
            updatedAt: now,
            ipAddress: context?.request ? addressOf(context.request) : null,
            userAgent: context?.request?.headers.get("user-agent")?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
          },
        };
      },
      after: (session: { userId: string }, context: Context) => note("sign_in", session.userId, context),
    },
    delete: {
      after: async (session: { userId: string }, context: Context) => {
        if (context?.path === "/sign-out") await note("sign_out", session.userId, context);
      },
    },
  };
};
