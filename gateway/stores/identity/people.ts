import { and, count, desc, eq, lt } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { people } from "#drizzle/schema/identity.ts";
import { type Role, storedEmail } from "#shared/admin/people.ts";
import { DEFAULT_ORG, newId } from "#shared/ids.ts";
import { GatewayError } from "../../errors.ts";
import type { Reader } from "../change.ts";
import type { Slice } from "../slice.ts";

export type PersonRow = typeof people.$inferSelect;

/** Newest first; `email` null: everyone. */
export const listPeople = (
  reader: Reader,
  { after, limit, email }: Slice & { email: string | null },
): Promise<PersonRow[]> =>
  reader
    .select()
    .from(people)
    .where(
      and(
        eq(people.orgId, DEFAULT_ORG),
        after === null ? undefined : lt(people.id, after),
        email === null ? undefined : eq(people.email, storedEmail(email)),
      ),
    )
    .orderBy(desc(people.id))
    .limit(limit);

/** Oldest first, with the number of all that there are; `email` null: everyone. */
export async function pageOfPeople(
  reader: Reader,
  { email, offset, limit }: { email: string | null; offset: number; limit: number },
): Promise<{ rows: PersonRow[]; total: number }> {
  const isWanted = and(
    eq(people.orgId, DEFAULT_ORG),
    email === null ? undefined : eq(people.email, storedEmail(email)),
  );
  const [counted] = await reader.select({ total: count() }).from(people).where(isWanted);
  const rows = await reader
    .select()
    .from(people)
    .where(isWanted)
    .orderBy(people.id)
    .offset(offset)
    .limit(limit);
  return { rows, total: counted?.total ?? 0 };
}

const isPerson = (id: string) => and(eq(people.orgId, DEFAULT_ORG), eq(people.id, id));

export async function findPerson(reader: Reader, id: string): Promise<PersonRow | null> {
  const [row] = await reader.select().from(people).where(isPerson(id));
  return row ?? null;
}

export async function findPersonByEmail(reader: Reader, email: string): Promise<PersonRow | null> {
  const isOf = and(eq(people.orgId, DEFAULT_ORG), eq(people.email, storedEmail(email)));
  const [row] = await reader.select().from(people).where(isOf);
  return row ?? null;
}

/** Whether anybody can sign in as an administrator. */
export async function hasAdministrator(reader: Reader): Promise<boolean> {
  const administrators = await reader
    .select({ found: count() })
    .from(people)
    .where(and(eq(people.orgId, DEFAULT_ORG), eq(people.role, "administrator"), eq(people.disabled, false)));
  return (administrators[0]?.found ?? 0) > 0;
}

export type NewPerson = {
  email: string;
  /** Null: the part before the @. */
  name: string | null;
  role: Role;
  team: string | null;
  githubLogin: string | null;
  budgetUsd?: PersonRow["budgetUsd"];
  budgetPeriod?: PersonRow["budgetPeriod"];
  unpriced?: PersonRow["unpriced"];
  /** Of a new person whose groups are mapped. */
  unmapped?: PersonRow["unmapped"];
};

/** @throws an error of the database if the e-mail is taken. */
export async function insertPerson(
  tx: Transaction,
  { email, name, ...rest }: NewPerson,
  now: Date,
): Promise<PersonRow> {
  const stored = storedEmail(email);
  const [row] = await tx
    .insert(people)
    .values({
      id: newId(),
      email: stored,
      name: name ?? stored.slice(0, stored.indexOf("@")),
      ...rest,
      createdAt: now,
      updatedAt: now,
    })
    .returning();
  if (!row) throw new Error("An inserted row was not returned.");
  return row;
}

export async function updatePerson(tx: Transaction, row: PersonRow): Promise<void> {
  await tx.update(people).set(row).where(isPerson(row.id));
}

/** A disabled person gets no key. @throws GatewayError conflict */
export async function requireNotDisabled(reader: Reader, owner: string | null): Promise<void> {
  if (owner === null || !(await findPersonByEmail(reader, owner))?.disabled) return;
  throw new GatewayError("conflict", "/owner: The person is disabled.");
}
