import { Autocomplete, Button, Group, NativeSelect, PasswordInput, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { ProviderTestResult } from "#shared/admin/providers.ts";
import { sendJson } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { Fault } from "../parts/states.tsx";
import { secretOf } from "../settings/secret-once.tsx";
import { SET_UP, type SetUp } from "./set-up-state.ts";

/** Makes one thing, and looks again at what is set up. */
function useStep<Input, Answer>(make: (input: Input) => Promise<Answer>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: make,
    onSuccess: () => client.invalidateQueries({ queryKey: SET_UP.queryKey }),
  });
}

type StepFormProps = {
  action: string;
  isBusy: boolean;
  error: unknown;
  send: () => void;
  children: ReactNode;
};

const StepForm = ({ action, isBusy, error, send, children }: StepFormProps) => (
  <form
    className="step-form"
    onSubmit={(event: FormEvent) => {
      event.preventDefault();
      send();
    }}
  >
    {children}
    {error !== null && <Fault error={error} />}
    <Button type="submit" loading={isBusy}>
      {action}
    </Button>
  </form>
);

/** Vendors to begin with; the page Providers has all kinds. */
const VENDORS = [
  { kind: "openai", title: "OpenAI", key: "sk-…" },
  { kind: "anthropic", title: "Anthropic", key: "sk-ant-…" },
  { kind: "gemini", title: "Google Gemini", key: "AIza…" },
  { kind: "mistral", title: "Mistral", key: "The API key" },
  { kind: "openrouter", title: "OpenRouter", key: "sk-or-…" },
  { kind: "openai-compatible", title: "Another server", key: "Empty, if it needs none" },
] as const;
type Vendor = (typeof VENDORS)[number];

/** A provider of a known vendor: tested first, and saved if it answers. */
export function ProviderStep({ setUp }: { setUp: SetUp }) {
  const [vendor, setVendor] = useState<Vendor | null>(null);
  return (
    <>
      <fieldset className="cards" aria-label="Vendor">
        {VENDORS.map((it) => (
          <button
            type="button"
            key={it.kind}
            className="card"
            aria-pressed={it.kind === vendor?.kind}
            onClick={() => setVendor(it)}
          >
            {it.title}
          </button>
        ))}
      </fieldset>
      {vendor && (
        <NewProvider key={vendor.kind} vendor={vendor} taken={setUp.providers.map(({ name }) => name)} />
      )}
    </>
  );
}

function NewProvider({ vendor: { kind, title, key }, taken }: { vendor: Vendor; taken: readonly string[] }) {
  const needsAddress = kind === "openai-compatible";
  const [credential, setCredential] = useState("");
  const [isElsewhere, setElsewhere] = useState<boolean>(needsAddress);
  const [address, setAddress] = useState("");
  const [isPrivate, setPrivate] = useState(false);
  const body = {
    name: taken.includes(kind) ? `${kind}-${taken.length}` : kind,
    kind,
    ...(credential !== "" && { credential }),
    ...(isElsewhere && { base_url: address, allow_private_network: isPrivate }),
  };
  const add = useStep(async (isSure: boolean) => {
    const test = await sendJson<ProviderTestResult>("/admin/v1/providers/test", { method: "POST", body });
    if (test.ok || isSure) await sendJson("/admin/v1/providers", { method: "POST", body });
    return test;
  });
  return (
    <StepForm action="Test and add" isBusy={add.isPending} error={add.error} send={() => add.mutate(false)}>
      <PasswordInput
        label={`API key of ${title}`}
        description="Stored encrypted and never shown again."
        placeholder={key}
        value={credential}
        onChange={(event) => setCredential(event.currentTarget.value.trim())}
        required={!needsAddress}
        autoComplete="off"
      />
      {!needsAddress && (
        <Switch
          label="At another address than the vendor's own"
          checked={isElsewhere}
          onChange={(event) => setElsewhere(event.currentTarget.checked)}
        />
      )}
      {isElsewhere && (
        <>
          <TextInput
            label="Address"
            placeholder="https://llm.example.com/v1"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value.trim())}
            required
          />
          <Switch
            label="Allow plain http, loopback and private addresses"
            checked={isPrivate}
            onChange={(event) => setPrivate(event.currentTarget.checked)}
          />
        </>
      )}
      {add.data && !add.data.ok && (
        <p role="alert" className="bad">
          {add.data.message} Nothing was saved.{" "}
          <Button size="compact-xs" variant="default" onClick={() => add.mutate(true)}>
            Add it anyway
          </Button>
        </p>
      )}
    </StepForm>
  );
}

/** A route to a model that the provider lists. */
export function RouteStep({ setUp: { vendors } }: { setUp: SetUp }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [model, setModel] = useState("");
  const [name, setName] = useState("coding");
  const provider = chosen ?? vendors[0]?.name ?? "";
  const { data: models = [] } = useQuery({
    queryKey: ["models", provider],
    queryFn: async () => {
      const path = `/admin/v1/providers/${encodeURIComponent(provider)}/test`;
      return (await sendJson<ProviderTestResult>(path, { method: "POST" })).models;
    },
    enabled: provider !== "",
    staleTime: 60_000,
  });
  const add = useStep(() =>
    sendJson("/admin/v1/routes", { method: "POST", body: { name, surface: "chat", provider, model } }),
  );
  return (
    <StepForm
      action="Add the route"
      isBusy={add.isPending}
      error={add.error}
      send={() => add.mutate(undefined)}
    >
      {vendors.length > 1 && (
        <NativeSelect
          label="Provider"
          value={provider}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={vendors.map((it) => it.name)}
        />
      )}
      <Autocomplete
        label="Model"
        description={
          models.length > 0 ? `${provider} lists ${models.length} models.` : "As the vendor names it."
        }
        value={model}
        onChange={setModel}
        data={models}
        limit={100}
        required
        disabled={provider === ""}
      />
      <TextInput
        label="Name"
        description="What callers send as model."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
    </StepForm>
  );
}

/** A key; `made` gets its secret, which is shown once. */
export function KeyStep({ made }: { made: (secret: string | null) => void }) {
  const { email } = useMe();
  const [owner, setOwner] = useState(email);
  const [name, setName] = useState(email.split("@")[0] ?? "");
  const add = useStep(async () => {
    const body = { name, owner };
    made(secretOf(await sendJson<Record<string, unknown>>("/admin/v1/keys", { method: "POST", body })));
  });
  return (
    <StepForm
      action="Make the key"
      isBusy={add.isPending}
      error={add.error}
      send={() => add.mutate(undefined)}
    >
      <Group grow align="start">
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        <TextInput
          label="Owner"
          description="Whose calls these are."
          value={owner}
          onChange={(event) => setOwner(event.currentTarget.value)}
          required
        />
      </Group>
    </StepForm>
  );
}
