import { isShownHeader } from "#shared/admin/providers.ts";
import { DEFAULT_ORG } from "#shared/ids.ts";
import { isSealedText } from "#shared/secret-box.ts";
import { Secret } from "../../directory.ts";
import { lastFour, type SealContext, type Sealer } from "../seal.ts";

/** A provider's headers by their names; values that may be secret are sealed. */
export type HeaderRow = { name: string; headers: Record<string, string> };

const belongingOf = (provider: string, header: string): SealContext => ({
  orgId: DEFAULT_ORG,
  provider,
  header,
  purpose: "header",
});

/** One value; null if it was sealed with another master key. One that an older gateway stored is not sealed. */
function opened({ name, headers }: HeaderRow, header: string, sealer: Sealer): Secret | null {
  const value = headers[header] ?? "";
  return isSealedText(value) ? sealer.open(value, belongingOf(name, header)) : new Secret(value);
}

/** All values; null if one cannot be opened. */
export function openHeaders(row: HeaderRow, sealer: Sealer): Record<string, Secret> | null {
  const found: Record<string, Secret> = {};
  for (const header of Object.keys(row.headers)) {
    const value = opened(row, header, sealer);
    if (value === null) return null;
    found[header] = value;
  }
  return found;
}

/** As administrators see them: of values that may be secret, their ends. */
export const shownHeaders = (row: HeaderRow, sealer: Sealer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(row.headers).map(([header, value]) => [
      header,
      isShownHeader(header) ? value : (lastFour(opened(row, header, sealer)) ?? "…"),
    ]),
  );

/** The sealed form of values that are not yet sealed. */
export const sealedHeaders = ({ name, headers }: HeaderRow, sealer: Sealer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [
      header,
      isShownHeader(header) || isSealedText(value) ? value : sealer.seal(value, belongingOf(name, header)),
    ]),
  );

/** Those that say who asks stay where they are said; the others go with the credential. */
export const headersWithoutSecrets = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([header]) => isShownHeader(header)));
