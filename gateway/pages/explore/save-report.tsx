import { Button, Modal, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { SavedReportView } from "#shared/admin/reports.ts";
import type { Spec } from "#shared/report.ts";
import { postJson } from "../data/api.ts";
import { REPORTS_QUERY } from "../data/reports.ts";
import { Fault } from "../parts/page.tsx";
import { TypedForm } from "../parts/typed-form.tsx";

/** An id as addresses have it: lower case, `-` between words. */
const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 64);

/** Keeps the question as a report. */
export function SaveReport({ spec }: { spec: Spec }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="filled" size="xs" onClick={() => setOpen(true)}>
        Save
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Save as a report">
        <SaveForm spec={spec} />
      </Modal>
    </>
  );
}

function SaveForm({ spec }: { spec: Spec }) {
  const [title, setTitle] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const id = idOf(title);
  const save = useMutation({
    mutationFn: (description: string) =>
      postJson<SavedReportView>("/admin/v1/reports", { id, title, description, spec }),
    onSuccess: async () => {
      await client.invalidateQueries(REPORTS_QUERY);
      await navigate({ to: "/reports/$id", params: { id } });
    },
  });
  return (
    <TypedForm submit={({ description = "" }) => save.mutate(description)}>
      <TextInput
        {...{ label: "Title", required: true, maxLength: 200, mb: "md", value: title }}
        data-autofocus
        onChange={(event) => setTitle(event.currentTarget.value)}
        description={id === "" ? "Its address is made from it." : `Its address: /reports/${id}`}
      />
      <Textarea name="description" label="Description" maxLength={2000} autosize minRows={2} mb="md" />
      {save.error && <Fault error={save.error} />}
      <Button variant="filled" type="submit" disabled={id === ""} loading={save.isPending}>
        Save the report
      </Button>
    </TypedForm>
  );
}
