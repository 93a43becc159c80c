import { Button, Modal, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sendJson } from "../data/api.ts";
import { REPORTS_QUERY } from "../data/reports.ts";
import { Fault } from "../parts/states.tsx";

/** Deletes a saved report once its id is typed. */
export function DeleteReport({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => sendJson<null>(`/admin/v1/reports/${encodeURIComponent(id)}`, { method: "DELETE" }),
    onSuccess: async () => {
      await client.invalidateQueries(REPORTS_QUERY);
      await navigate({ to: "/reports" });
    },
  });
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Delete this report"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <p className="mute">
          Only the saved report is deleted; records stay. Type <b>{id}</b> to confirm.
        </p>
        <TextInput
          label="Id of the report"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          mb="md"
        />
        {remove.error && <Fault error={remove.error} />}
        <Button
          color="red"
          disabled={typed !== id}
          loading={remove.isPending}
          onClick={() => remove.mutate()}
        >
          Delete the report
        </Button>
      </Modal>
    </>
  );
}
