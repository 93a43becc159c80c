import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProviderTestResult } from "#shared/admin/providers.ts";
import { postJson } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { PROVIDER, ROUTE } from "../settings/forms/call-forms.ts";
import type { Field, Form } from "../settings/forms/field.ts";
import { KEY } from "../settings/forms/people-forms.ts";
import { ResourceForm } from "../settings/forms/resource-form.tsx";
import { secretOf } from "../settings/secret-once.tsx";
import { SET_UP, type SetUp } from "./set-up-state.ts";

type Body = Record<string, unknown>;

/** The fields that a first one needs, in other words or with a value to begin with. */
const partOf = (form: Form, fields: Readonly<Record<string, Partial<Field>>>): Form => ({
  ...form,
  fields: Object.entries(fields).flatMap(([name, change]) =>
    form.fields.filter((field) => field.name === name).map((field) => ({ ...field, ...change })),
  ),
});

/** Makes one thing, and looks again at what is set up. */
function useMake() {
  const client = useQueryClient();
  return async (path: string, body: Body): Promise<Body> => {
    const answer = await postJson<Body>(`/admin/v1/${path}`, body);
    await client.invalidateQueries({ queryKey: SET_UP.queryKey });
    return answer;
  };
}

/** Vendors to begin with; the page Providers has all kinds. */
const VENDORS = [
  { kind: "openai", title: "OpenAI", key: "sk-…" },
  { kind: "anthropic", title: "Anthropic", key: "sk-ant-…" },
  { kind: "gemini", title: "Google Gemini", key: "AIza…" },
  { kind: "mistral", title: "Mistral", key: "" },
  { kind: "openrouter", title: "OpenRouter", key: "sk-or-…" },
  { kind: "openai-compatible", title: "Another server", key: "" },
] as const;
type Vendor = (typeof VENDORS)[number];

/** A provider of a known vendor: tested first, and saved if it answers. */
export function ProviderStep({ setUp: { providers } }: { setUp: SetUp }) {
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
      {vendor && <NewProvider key={vendor.kind} vendor={vendor} taken={providers.map(({ name }) => name)} />}
    </>
  );
}

type NewProviderProps = { vendor: Vendor; taken: readonly string[] };

function NewProvider({ vendor: { kind, title, key }, taken }: NewProviderProps) {
  const make = useMake();
  const [refused, setRefused] = useState<{ body: Body; message: string } | null>(null);
  const form = partOf(PROVIDER, {
    credential: {
      label: `API key of ${title}`,
      placeholder: key,
      isRequired: kind !== "openai-compatible",
      help: "Stored encrypted and never shown again.",
    },
    base_url: { isRequired: kind === "openai-compatible", help: "Empty: the vendor's own." },
    allow_private_network: {},
  });
  const testAndAdd = async (entered: Body) => {
    const body = { ...entered, name: taken.includes(kind) ? `${kind}-${taken.length}` : kind, kind };
    setRefused(null);
    const path = "/admin/v1/providers/test";
    const test = await postJson<ProviderTestResult>(path, body);
    if (test.ok) await make("providers", body);
    else setRefused({ body, message: test.message });
  };
  return (
    <div className="step-form">
      <ResourceForm form={form} view={null} action="Test and add" save={testAndAdd} />
      {refused && (
        <p role="alert" className="bad">
          {refused.message} Nothing was saved.{" "}
          <Button size="compact-xs" onClick={() => void make("providers", refused.body)}>
            Add it anyway
          </Button>
        </p>
      )}
    </div>
  );
}

/** A route to a model; those that the provider lists are offered. */
export function RouteStep({ setUp: { vendors } }: { setUp: SetUp }) {
  const make = useMake();
  const provider = vendors[0]?.name ?? "";
  const form = partOf(ROUTE, { provider: { initial: provider }, model: {}, name: { initial: "coding" } });
  return (
    <div className="step-form">
      <ResourceForm
        key={provider}
        form={form}
        view={null}
        action="Add the route"
        save={async (body) => void (await make("routes", { ...body, surface: "chat" }))}
      />
    </div>
  );
}

/** A key; `made` gets its secret, which is shown once. */
export function KeyStep({ made }: { made: (secret: string | null) => void }) {
  const { email } = useMe();
  const make = useMake();
  const form = partOf(KEY, { name: { initial: email.split("@")[0] ?? "" }, owner: { initial: email } });
  return (
    <div className="step-form">
      <ResourceForm
        form={form}
        view={null}
        action="Make the key"
        save={async (body) => made(secretOf(await make("keys", body)))}
      />
    </div>
  );
}
