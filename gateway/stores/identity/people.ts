import { count } from "drizzle-orm";
import type { Transaction } from "#drizzle/database.ts";
import { first, ours } from "#drizzle/ours.ts";
import { people } from "#drizzle/schema/identity.ts";
import { type Role, storedEmail } from "#shared/admin/people.ts";
import { newId } from "#shared/ids.ts";
import { GatewayError } from "../../errors.ts";
import type { Reader } from "../change.ts";
import { keyedRows } from "../rows.ts";
import type { Slice } from "../slice.ts";

export type PersonRow = typeof people.$inferSelect;

const isNamed = (email: string) => ours(people, { email: storedEmail(email) });

/** Newest first; `email` null: everyone. */
export const listPeople = (
  reader: Reader,
  { email, ...slice }: Slice & { email: string | null },
): Promise<PersonRow[]> =>
  keyedRows(people, "id", true).list(reader, slice, email === null ? undefined : isNamed(email));

/** Oldest first, with the number of all that there are; `email` null: everyone. */
export async function pageOfPeople(
  reader: Reader,
  { email, offset, limit }: { email: string | null; offset: number; limit: number },
): Promise<{ rows: PersonRow[]; total: number }> {
  const isWanted = email === null ? ours(people) : isNamed(email);
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

export const findPerson = (reader: Reader, id: string): Promise<PersonRow | null> =>
  first(reader.select().from(people).where(ours(people, { id })));

export const findPersonByEmail = (reader: Reader, email: string): Promise<PersonRow | null> =>
  first(reader.select().from(people).where(isNamed(email)));

/** Whether anybody can sign in as an administrator. */
export async function hasAdministrator(reader: Reader): Promise<boolean> {
  const administrators = await reader
    .select({ found: count() })
    .from(people)
    .where(ours(people, { role: "administrator", disabled: false }));
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
  const isIt = ours(people, { id: row.id });
  await tx.update(people).set(row).where(isIt);
}

/** A disabled person gets no key. @throws GatewayError conflict */
export async function requireNotDisabled(reader: Reader, owner: string | null): Promise<void> {
  if (owner === null || !(await findPersonByEmail(reader, owner))?.disabled) return;
  throw new GatewayError("conflict", "/owner: The person is disabled.");
}
