import { GatewayError } from "../errors.ts";
import type { ExchangeDeps } from "../exchange.ts";
import { isJson, type Json, jsonBytes, objectInBytes, objectsIn, textIn } from "../translate/exact-json.ts";
import { bytesUpTo } from "../upstream/whole-body.ts";

const LIST_BYTES_MAX = 16 * 1024 * 1024;

/**
 * A vendor's list of what it keeps for the whole account, without what other keys of this gateway made. Any other answer
 * is the same.
 */
export async function ownItemsOnly(
  { refersToForeign }: Pick<ExchangeDeps, "refersToForeign">,
  keyId: string,
  answer: Response,
): Promise<Response> {
  if (!answer.ok || !/^application\/json\b/i.test(answer.headers.get("content-type") ?? "")) return answer;
  const { status, headers } = answer;
  const bytes = await bytesUpTo(answer, LIST_BYTES_MAX, () => new GatewayError("upstream_broken"));
  const list = objectInBytes(bytes);
  const lists = Object.keys(list ?? {}).filter((name) => objectsIn(list, name).some(idOf));
  const isForeign = (ids: string[]) => refersToForeign(keyId, { kept: ids, items: [], files: ids });
  const all = lists.flatMap((name) => objectsIn(list, name).flatMap((item) => idOf(item) ?? []));
  if (list === null || all.length === 0 || !(await isForeign(all))) {
    return new Response(Buffer.from(bytes), { status, headers });
  }
  const own: Record<string, unknown> = { ...list };
  for (const name of lists) {
    const items = Array.isArray(list[name]) ? list[name] : [];
    const foreign = await Promise.all(items.map((item) => isForeign(isJson(item) ? [idOf(item) ?? ""] : [])));
    own[name] = items.filter((_, index) => !foreign[index]);
  }
  return new Response(jsonBytes(own), { status, headers });
}

const idOf = (item: Json): string | null => textIn(item, "id") ?? textIn(item, "name");
