import { Button, Group, NativeSelect, PasswordInput, Switch, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../data/api.ts";
import { Fault } from "../parts/states.tsx";
import { type Field, type FormValue, type FormValues, formOf } from "./fields.ts";

type ResourceFormProps = {
  fields: readonly Field[];
  /** The resource as it is; null makes a new one. */
  view: Readonly<Record<string, unknown>> | null;
  action: string;
  save: (values: FormValues) => Promise<void>;
  cancel?: () => void;
};

/** A form for the members of a resource. A refusal that names a member is shown at its field. */
export function ResourceForm({ fields, view, action, save, cancel }: ResourceFormProps) {
  const [values, setValues] = useState(() => formOf(fields, view));
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const shown = fields.filter(({ createOnly }) => view === null || !createOnly);
  const fault = faultIn(error, shown);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    void save(values)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return (
    <form onSubmit={submit}>
      {error !== null && !fault && <Fault error={error} />}
      {shown.map((field) => (
        <Entry
          key={field.name}
          field={field}
          value={values[field.name] ?? ""}
          error={fault?.name === field.name ? fault.message : null}
          change={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
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

/** The gateway names a wrong member by its place in the body, such as `/limits/budget_usd: …`. */
function faultIn(error: unknown, fields: readonly Field[]): { name: string; message: string } | null {
  if (!(error instanceof ApiError)) return null;
  const [, place = "", message = ""] = /^\/([^:\s]+): (.*)$/s.exec(error.message) ?? [];
  const named = place.replaceAll("/", ".");
  const field = fields.find(({ name }) => named === name || named.startsWith(`${name}.`));
  return field ? { name: field.name, message } : null;
}

const SEVERAL_LINES: ReadonlySet<Field["kind"]> = new Set(["area", "lines", "pairs", "targets", "json"]);

type EntryProps = {
  field: Field;
  value: FormValue;
  error: string | null;
  change: (value: FormValue) => void;
};

function Entry({ field, value, error, change }: EntryProps) {
  const common = {
    label: field.label,
    description: field.help,
    error,
    mb: "md",
    required: field.required ?? false,
  };
  if (field.kind === "switch") {
    const { required: _, ...rest } = common;
    return (
      <Switch {...rest} checked={value === true} onChange={(event) => change(event.currentTarget.checked)} />
    );
  }
  const text = String(value);
  const onChange = (event: { currentTarget: { value: string } }) => change(event.currentTarget.value);
  if (field.kind === "choice") {
    const options = field.options.map((option) => ({ value: option, label: option }));
    const data = field.none === undefined ? options : [{ value: "", label: field.none }, ...options];
    return <NativeSelect {...common} value={text} onChange={onChange} data={data} />;
  }
  if (field.kind === "secret") {
    return <PasswordInput {...common} value={text} onChange={onChange} autoComplete="off" />;
  }
  if (SEVERAL_LINES.has(field.kind)) {
    return (
      <Textarea
        {...common}
        value={text}
        onChange={onChange}
        placeholder={hint(field)}
        rows={4}
        spellCheck={false}
      />
    );
  }
  return (
    <TextInput
      {...common}
      value={text}
      onChange={onChange}
      placeholder={hint(field)}
      inputMode={field.kind === "integer" ? "numeric" : field.kind === "decimal" ? "decimal" : "text"}
      autoComplete="off"
    />
  );
}

function hint(field: Field): string {
  if (field.kind === "targets") return "provider model";
  return "placeholder" in field ? (field.placeholder ?? "") : "";
}
