import { Button, Code, Switch } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProviderTestResult } from "#shared/admin/providers.ts";
import { plural } from "#shared/plural.ts";
import { postJson, sendJson } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { CopyButton } from "../parts/copy.tsx";
import { counted } from "../parts/format.ts";
import { Fault } from "../parts/page.tsx";
import { Moment } from "../parts/values.tsx";
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

/** The switch without which no merge is stored, and the merges that wait for it. */
export function JoinStep({ setUp: { app, isJoining } }: { setUp: SetUp }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (isOn: boolean) =>
      sendJson("/admin/v1/settings", { method: "PATCH", body: { pull_request_stamping: isOn } }),
    onSuccess: () => client.invalidateQueries({ queryKey: SET_UP.queryKey }),
  });
  const { waiting_merges: waiting } = app;
  return (
    <>
      <Switch
        mt="sm"
        label="Join merged pull requests to their sessions"
        checked={change.isError ? isJoining : (change.variables ?? isJoining)}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
      {change.error && <Fault error={change.error} />}
      {waiting.length > 0 && (
        <>
          <p>
            {counted(waiting.length, "merge")} arrived meanwhile. Switch it on to join{" "}
            {plural(waiting.length, "it", "them")}.
          </p>
          <ul className="changes">
            {waiting.map((it) => (
              <li key={`${it.repository_id} ${it.number}`}>
                {it.repository ?? `Repository ${it.repository_id}`} #{it.number}
                {it.author !== null && ` by ${it.author}`}, session <code>{it.session}</code>,{" "}
                <Moment at={it.merged_at} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Two ways in which a pull request names its session. */
export function StampStep() {
  const commands = `tallygate login --url ${location.origin}\ntallygate install`;
  return (
    <>
      <p>
        On each developer's machine, let <a href="/docs">the command line</a> do it: agents then name the
        branch's session by themselves.
      </p>
      <div className="sample">
        <Code block p="sm" tabIndex={0}>
          {commands}
        </Code>
        <CopyButton text={commands} label="Copy the commands" />
      </div>
      <p>
        Or write a line into the body by hand: <code>Gateway-Session: task-42</code>, with the session that
        the calls sent as <code>x-session-id</code>.
      </p>
    </>
  );
}
