import { useQueryClient } from "@tanstack/react-query";
import { sendJson } from "../data/api.ts";
import { listKey } from "../data/records.ts";

/** Lists of settings are short, and change when an administrator changes them, here or elsewhere. */
export const SETTINGS_LIST = { refreshMs: 10_000, pageItems: 500, isWhole: true } as const;

/** Changes a resource, and reads its list again. */
export function useChange(path: string) {
  const client = useQueryClient();
  return async <T>(place: string, request: Parameters<typeof sendJson>[1]): Promise<T> => {
    const answer = await sendJson<T>(`${path}${place}`, request);
    await client.invalidateQueries({ queryKey: listKey(path) });
    return answer;
  };
}
