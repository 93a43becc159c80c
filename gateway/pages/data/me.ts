import { useQuery } from "@tanstack/react-query";
import type { Me } from "#shared/admin/me.ts";
import { getJson, statusOf } from "./api.ts";

export type RoleName = Me["role"];
const ROLES = ["member", "manager", "administrator"] as const satisfies readonly RoleName[];

export const ME = {
  queryKey: ["me"],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await getJson<Me>("/v1/me");
    } catch (error) {
      if (statusOf(error) === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
} as const;

/** The signed-in person. Pages below the shell are only shown to one. */
export function useMe(): Me {
  const { data } = useQuery(ME);
  if (!data) throw new Error("No one is signed in.");
  return data;
}

export const mayAs = (role: RoleName, needed: RoleName): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);
