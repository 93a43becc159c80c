/** A model's name as a vendor gives it, taken apart. */
export type ModelName = {
  /** Lower case, without what follows here. */
  family: string;
  /** Such as `2024-08-06`, `20250514`, `08-2024`, `05-20`, `2411` and `0709`; null: none. */
  date: string | null;
  /** A host's own number of the same model, such as `v1:0`, `default` and `001`; null: none. */
  version: string | null;
};

/** How a host writes other vendors' or its own names: by the list's provider. */
type Host = {
  /** Where the model is, before its name. */
  prefix: RegExp;
  /** Its version, behind the name. */
  version: RegExp;
};

const HOSTS: Readonly<Record<string, Host>> = {
  // `us.anthropic.claude-…` is priced like the region's own model; `global.` has entries of its own. GovCloud
  // (`us-gov.`) has other prices, which the list lacks. A profile or a model may also be named by its ARN.
  aws: {
    prefix:
      /^(?:arn:aws:bedrock:[^:/]*:[^:/]*:(?:inference-profile|foundation-model)\/)?(?:(?:us|eu|apac|au|ca|in|jp|regional)\.)?/,
    version: /-(v\d+(?::\d+)?|\d+:\d+)$|:(\d+)$/,
  },
  google: {
    prefix:
      /^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?(?:models\/|google\/|anthropic\/)?/,
    version: /@([a-z]+|\d{3})$|-(\d{3}|v\d)$/,
  },
  // `ft:gpt-4o-2024-08-06:organisation:name:id`: a tuned model costs what its base does when it is tuned.
  openai: { prefix: /^/, version: /^ft:[^:]+:(.*)$/ },
};

const NO_HOST: Host = { prefix: /^/, version: /$^/ };

const YEAR = "20\\d\\d";
const MONTH = "(?:0[1-9]|1[0-2])";
const DAY = "(?:0[1-9]|[12]\\d|3[01])";
const DATE = new RegExp(
  `[-@](${YEAR}-${MONTH}-${DAY}|${YEAR}${MONTH}${DAY}|${MONTH}-(?:${YEAR}|${DAY})|2\\d${MONTH}(?:${DAY})?|${MONTH}${DAY})$`,
);
const LATEST = /-latest$/;

/** Takes apart the name of a model of the list's provider `priceId`. */
export function modelNameOf(priceId: string, text: string): ModelName {
  const { prefix, version } = HOSTS[priceId] ?? NO_HOST;
  let family = text.toLowerCase().replace(prefix, "");
  /** Removes the end that the form finds, and returns it. */
  const cut = (form: RegExp): string | null => {
    const found = form.exec(family);
    const end = found?.slice(1).find((group) => group !== undefined) ?? null;
    if (found && end !== null) family = family.slice(0, family.length - end.length - 1);
    return end;
  };
  const dated = cut(DATE);
  const numbered = cut(version);
  const date = dated ?? cut(DATE);
  return { family: family.replace(LATEST, ""), date, version: numbered };
}

/** `v1` and `v1:0` are one version; none is any. */
export const isSameVersion = (a: string | null, b: string | null): boolean =>
  a === null || b === null || a === b || a.startsWith(`${b}:`) || b.startsWith(`${a}:`);
