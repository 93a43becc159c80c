import { type AnswerRow, isTotal } from "./assemble.ts";
import { SERVICE_ACCOUNT } from "./dimensions.ts";

/** Whether a decomposition, which is of priced calls alone, must count people again: it has calls of unknown cost. */
export const lacksPayers = (rows: readonly AnswerRow[]): boolean =>
  rows.some(
    (row) =>
      isTotal(row) &&
      !("c_priced_users" in row) &&
      (Number(row["c_unpriced"] ?? 0) > 0 || Number(row["p_unpriced"] ?? 0) > 0),
  );

/** Whether all billed calls of a person, of the subjects of these rows, are of unknown cost in a window. */
export const hasUnpricedPeople = (rows: readonly AnswerRow[]): boolean =>
  rows.some((row) => {
    const isUnpriced = (side: string) => {
      const billed = Number(row[`${side}_billed_records`] ?? 0);
      return billed > 0 && Number(row[`${side}_unpriced`] ?? 0) >= billed;
    };
    return !isTotal(row) && row["d1"] !== SERVICE_ACCOUNT && ["c", "p"].some(isUnpriced);
  });
