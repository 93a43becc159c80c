import { useQueryClient } from "@tanstack/react-query";
import { api } from "./api.ts";

/** Ends the session here and at the gateway; nothing that was shown stays in memory. */
export function useSignOut(): () => void {
  const client = useQueryClient();
  return () => {
    void api("/auth/sign-out", { method: "POST" })
      .catch(() => undefined)
      .then(() => {
        client.clear();
        location.assign("/sign-in");
      });
  };
}
