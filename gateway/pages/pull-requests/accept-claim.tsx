import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { sendJson } from "../data/api.ts";
import { mayAs, useMe } from "../data/me.ts";
import { Fault } from "../parts/states.tsx";

/** An administrator takes the word of an author from outside. */
export function AcceptClaim({ id }: { id: string }) {
  const { role } = useMe();
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => sendJson(`/admin/v1/pull-requests/${id}/accept`, { method: "POST" }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["pull-request"] }),
  });
  if (!mayAs(role, "administrator")) return null;
  return (
    <>
      {accept.error && <Fault error={accept.error} />}
      <Button size="xs" loading={accept.isPending} onClick={() => accept.mutate()}>
        Accept its session
      </Button>
    </>
  );
}
