import { isJson, type Json, jsonBytes, objectInBytes, objectsIn, textIn } from "../translate/exact-json.ts";

/** What a vendor calls a thing that it keeps. */
export const vendorIdOf = (item: Json): string | null => textIn(item, "id") ?? textIn(item, "name");

/** A vendor's answer with only those items of its lists that `keep` says; items without an id stay. */
export async function withItems(
  bytes: Uint8Array<ArrayBuffer>,
  keep: (id: string, item: Json) => boolean | Promise<boolean>,
): Promise<Uint8Array<ArrayBuffer>> {
  const answer = objectInBytes(bytes);
  const lists = Object.keys(answer ?? {}).filter((name) => objectsIn(answer, name).some(vendorIdOf));
  if (answer === null || lists.length === 0) return bytes;
  const shown: Record<string, unknown> = { ...answer };
  for (const name of lists) {
    const items: unknown[] = Array.isArray(answer[name]) ? answer[name] : [];
    const kept = await Promise.all(
      items.map((item) => {
        const id = isJson(item) ? vendorIdOf(item) : null;
        return id === null || !isJson(item) || keep(id, item);
      }),
    );
    shown[name] = items.filter((_, index) => kept[index]);
  }
  return jsonBytes(shown);
}
