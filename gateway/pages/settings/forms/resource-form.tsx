import { Alert, Button, Group } from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { type Fault as FormFault, faultsOf } from "#shared/schema.ts";
import { Fault } from "../../parts/page.tsx";
import { bodyOf, draftsOf } from "./draft.ts";
import { Fields } from "./entry.tsx";
import { faultsIn, type WordedFault, wordedFaults } from "./faults.ts";
import { type Field, type Form, fieldsFor } from "./field.ts";

type ResourceFormProps = {
  form: Form;
  /** The resource as it is; null makes a new one. */
  view: Readonly<Record<string, unknown>> | null;
  action: string;
  /** A change has only the members that were changed, unless it replaces the resource. */
  save: (body: Record<string, unknown>) => Promise<void>;
  cancel?: () => void;
};

/** What a refusal says of fields; and all of it, unless every part is said at one. */
function saidOf(fields: readonly Field[], refusal: unknown): { said: WordedFault[]; rest: unknown } {
  const named = faultsIn(refusal);
  const said = wordedFaults(fields, named);
  return { said, rest: named.length > 0 && said.length === named.length ? null : refusal };
}

/** The first control with a fault, or of the fields that have one together. */
function firstFaulty(form: HTMLFormElement | null): HTMLElement | null | undefined {
  const place = form?.querySelector<HTMLElement>("[aria-invalid=true], .mantine-Input-error");
  if (!place || place.matches("input, textarea, select")) return place;
  return place.closest("fieldset, .form-row")?.querySelector<HTMLElement>("input, textarea, select, button");
}

/** Some forms need what the resource itself can lack, such as the key of a vendor that has no other way in. */
const missingIn = (fields: readonly Field[], body: Record<string, unknown>): FormFault[] =>
  fields
    .filter(({ name, isRequired }) => isRequired && (body[name] ?? null) === null)
    .map(({ name }) => ({ path: `/${name}`, message: "Expected required property" }));

/** A form for the members of a resource. What the schema or the gateway refuses is shown at its field and at the button. */
export function ResourceForm({ form, view, action, save, cancel }: ResourceFormProps) {
  const fields = fieldsFor(form, view === null);
  const [before, setBefore] = useState(() => draftsOf(fields, view));
  const [drafts, setDrafts] = useState(before);
  const [faults, setFaults] = useState<readonly WordedFault[]>([]);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (faults.length === 0) return;
    const first = firstFaulty(element.current);
    first?.scrollIntoView({ block: "center" });
    first?.focus({ preventScroll: true });
  }, [faults]);
  const send = async () => {
    const schema = view ? form.change : form.create;
    const body = bodyOf(fields, drafts, view && !form.replaces ? before : null);
    const named = [...(view ? [] : missingIn(fields, body)), ...(schema ? faultsOf(schema, body) : [])];
    const found = wordedFaults(fields, [...new Map(named.map((one) => [one.path, one])).values()]);
    setFaults(found);
    setError(null);
    if (found.length > 0) return;
    setBusy(true);
    try {
      await save(body);
      setBefore(drafts);
    } catch (refusal) {
      const { said, rest } = saidOf(fields, refusal);
      setFaults(said);
      setError(rest);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send();
  };
  return (
    // The browser's own check would stop at the first fault.
    <form onSubmit={submit} ref={element} noValidate>
      <Fields fields={fields} drafts={drafts} place="" faults={faults} change={setDrafts} />
      <div className="form-end">
        {error !== null && <Fault error={error} />}
        {faults.length > 0 && (
          <Alert color="red" variant="outline" role="alert" title="Not saved" mb="sm">
            <ul className="plain-faults">
              {faults.map(({ path, label, message }) => (
                <li key={path}>
                  <b>{label}:</b> {message}
                </li>
              ))}
            </ul>
          </Alert>
        )}
        <Group justify="flex-end">
          {cancel && <Button onClick={cancel}>Cancel</Button>}
          <Button variant="filled" type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </div>
    </form>
  );
}
