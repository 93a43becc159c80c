import { Alert } from "@mantine/core";
import { useNetwork } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { reachable } from "../data/api.ts";
import { useStore } from "../data/store.ts";
import { UNREACHABLE, useIsSaid } from "../parts/page.tsx";

const AGAIN_MS = 5_000;

/** While nothing answers: says so once for the whole page, and asks again for what failed. */
export function Unreachable() {
  const client = useQueryClient();
  const { online } = useNetwork();
  const answers = useStore(reachable);
  const isAway = !online || !answers;
  useIsSaid(isAway ? UNREACHABLE : null);
  useEffect(() => {
    if (!isAway) return;
    const again = () => void client.refetchQueries({ type: "active" });
    const timer = setInterval(again, AGAIN_MS);
    return () => {
      clearInterval(timer);
      // What failed meanwhile, or waited, is asked for at once.
      again();
    };
  }, [isAway, client]);
  if (!isAway) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      mb="md"
      title={online ? "The gateway does not answer" : "You are offline"}
    >
      The page may be out of date, and changes cannot be saved. It reconnects by itself.
    </Alert>
  );
}
