import { drizzleAdapter } from "better-auth/adapters/drizzle";
import type { Database } from "#drizzle/database.ts";
import { people, personSessions, signInAccounts, signInVerifications } from "#drizzle/schema/identity.ts";

const schema = {
  user: people,
  session: personSessions,
  account: signInAccounts,
  verification: signInVerifications,
};

type NewRow<T> = {
  model: string;
  data: Omit<T, "id">;
  select?: string[] | undefined;
  forceAllowId?: boolean | undefined;
};
type Adapter = ReturnType<ReturnType<typeof drizzleAdapter>>;

/** Where the sign-in library keeps people, sessions, accounts and what is under way: our tables. */
export const authAdapter = (database: Database) => {
  const open = drizzleAdapter(database.db, { provider: "pg", schema, transaction: true });
  return (options: Parameters<typeof open>[0]): Adapter => withPlainTokens(open(options));
};

/** The table returns a new session's token as its digest (drizzle/schema/identity.ts); the cookie needs the token. */
function withPlainTokens(adapter: Adapter): Adapter {
  return {
    ...adapter,
    async create<T extends Record<string, unknown>, R = T>(input: NewRow<T>): Promise<R> {
      const made = await adapter.create<T, R>(input);
      return input.model === "session" ? { ...made, token: input.data["token"] } : made;
    },
    transaction: (work) =>
      adapter.transaction((tx) => work(withPlainTokens({ ...tx, transaction: adapter.transaction }))),
  };
}
