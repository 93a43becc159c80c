/** Prefixes of regions and vendors in Amazon Bedrock's names. */
const HOSTED =
  /^(?:(?:us|eu|apac|au|ca|jp|global|us-gov)\.)?(?:ai21|amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\./;
/** What providers add to the name of the same model: a version of their own, a variant of the service, `latest`. */
const ADDED = /(?:-v\d+)?(?::(?:\d+|latest|free|nitro|floor|online|extended))?$/;
/** A date or a build number, such as `2024-08-06`, `20250514`, `2411`, `preview-05-20` and `002`. */
const DATED = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|(?:preview-)?\d{2}-\d{2}(?:\d{2})?|\d{3,4})$/;

/** A model's name without path, hosting prefix and service variant. */
const bareName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^.*\//s, "")
    .replace(HOSTED, "")
    .replaceAll("@", "-")
    .replace(ADDED, "")
    .replace(/-latest$/, "");

const undated = (name: string): string => name.replace(DATED, "");

/**
 * Whether a provider's name for the model that answered is the model that was asked for: the same name, or the name with
 * a date where the other has none. Two dates are two models, because their prices may differ.
 */
export function isSameModel(asked: string, answered: string): boolean {
  const [one, other] = [bareName(asked), bareName(answered)];
  return one === other || undated(other) === one || undated(one) === other;
}
