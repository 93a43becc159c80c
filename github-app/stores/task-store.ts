import { and, eq } from "drizzle-orm";
import { type Lease, type LeaseDeps, takeLease } from "#drizzle/leases/lease.ts";
import { githubTasks } from "#drizzle/schema/github-app.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";

type Task = typeof githubTasks.$inferSelect;

/** Takes a periodic task; null: another process has it, or it is not due. */
export async function takeTask(
  deps: LeaseDeps,
  name: Task["name"],
  leaseMs: number,
): Promise<Lease<Task> | null> {
  await deps.database.db.insert(githubTasks).values({ name }).onConflictDoNothing();
  const where = and(eq(githubTasks.orgId, DEFAULT_ORG), eq(githubTasks.name, name));
  return takeLease(deps, githubTasks, { where, leaseMs });
}
