import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { getJson } from "./api.ts";

type Options<T> = Omit<UseQueryOptions<T>, "queryKey" | "queryFn">;

/** What an address of the API answers, kept under `queryKey`. */
export const useJson = <T>(queryKey: readonly unknown[], path: string, options: Options<T> = {}) =>
  useQuery<T>({ ...options, queryKey, queryFn: ({ signal }) => getJson<T>(path, signal) });
