import type { Database } from "#drizzle/database.ts";
import type { Digest } from "#shared/digest.ts";
import { Result, type Spec } from "#shared/report.ts";
import { fits } from "#shared/schema.ts";
import { GatewayError } from "../errors.ts";
import { digestOf, digestSpecs, type Week } from "../reports/digest.ts";
import { notJoinedIn, revertedCosts } from "../stores/reports/digests.ts";
import type { ReportWriter } from "../stores/reports/report-writer.ts";

export type MakeDigestDeps = { database: Database; reportWriter: Pick<ReportWriter, "write"> };

/** The digest of a week, with the present figures of the reports. @throws GatewayError as reports do. */
export async function makeDigest(deps: MakeDigestDeps, week: Week): Promise<Digest> {
  const specs = digestSpecs(week);
  const end = new Date(week.toMs);
  const [outcomes, spend, reverted, notJoined] = await Promise.all([
    report(deps, specs.outcomes, end),
    report(deps, specs.spend, end),
    revertedCosts(deps.database, week),
    notJoinedIn(deps.database, week),
  ]);
  return digestOf({ outcomes, spend, reverted, notJoined });
}

async function report({ reportWriter }: MakeDigestDeps, spec: Spec, now: Date): Promise<Result> {
  const result: unknown = JSON.parse(await reportWriter.write(spec, now, { format: "json" }));
  if (!fits(Result, result)) throw new GatewayError("internal");
  return result;
}
