import { Button, Group } from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { faultsOf, type Fault as SchemaFault } from "#shared/schema.ts";
import { Fault } from "../../parts/states.tsx";
import { bodyOf, draftsOf } from "./draft.ts";
import { Fields } from "./entry.tsx";
import { faultsIn, isWithin, partOf } from "./faults.ts";
import { type Form, fieldsFor } from "./field.ts";

type ResourceFormProps = {
  form: Form;
  /** The resource as it is; null makes a new one. */
  view: Readonly<Record<string, unknown>> | null;
  action: string;
  /** A change has only the members that were changed, unless it replaces the resource. */
  save: (body: Record<string, unknown>) => Promise<void>;
  cancel?: () => void;
};

/** A form for the members of a resource. What the schema or the gateway refuses is shown at its field. */
export function ResourceForm({ form, view, action, save, cancel }: ResourceFormProps) {
  const fields = fieldsFor(form, view === null);
  const [before, setBefore] = useState(() => draftsOf(fields, view));
  const [drafts, setDrafts] = useState(before);
  const [faults, setFaults] = useState<readonly SchemaFault[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.length === 0) return;
    const first = element.current?.querySelector<HTMLElement>("[aria-invalid=true], .mantine-Input-error");
    first?.scrollIntoView({ block: "center" });
    first?.focus();
  }, [faults]);
  const isShown = ({ path }: SchemaFault) => fields.some(({ name }) => isWithin(path, partOf("", name)));
  const send = async () => {
    const schema = view ? form.change : form.create;
    const body = bodyOf(fields, drafts, view && !form.replaces ? before : null);
    const found = schema ? faultsOf(schema, body).filter(isShown) : [];
    setFaults(found);
    setError(null);
    if (found.length > 0) return;
    setBusy(true);
    try {
      await save(body);
      setBefore(drafts);
    } catch (refusal) {
      setError(refusal);
      setFaults(faultsIn(refusal));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  return (
    <form onSubmit={submit} ref={element}>
      {error !== null && !(faults.length > 0 && faults.every(isShown)) && <Fault error={error} />}
      <Fields fields={fields} drafts={drafts} place="" faults={faults} change={setDrafts} />
      <Group justify="flex-end" mt="md">
        {cancel && (
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" loading={isBusy}>
          {action}
        </Button>
      </Group>
    </form>
  );
}
