import { Code, PasswordInput, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { getJson } from "../data/api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Panel } from "../parts/page-head.tsx";

const POLL_MS = 2000;

/** A snippet for each client with this gateway's address, and a note once the first call arrives. */
export function ConnectAgent() {
  const [client, setClient] = useState(SNIPPETS[0]?.name ?? "");
  const [key, setKey] = useState("");
  const text = SNIPPETS.find(({ name }) => name === client)?.text(location.origin, key || "YOUR_KEY") ?? "";
  return (
    <Panel
      title="Connect an agent"
      sub="Paste your key to put it into the snippet. It does not leave this page."
    >
      <PasswordInput
        label="Key"
        placeholder="tg_…"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value.trim())}
        autoComplete="off"
        mb="md"
      />
      <SegmentedControl
        className="wrapping"
        aria-label="Client"
        value={client}
        onChange={setClient}
        data={SNIPPETS.map(({ name }) => name)}
      />
      <Code block mt="md" mb="sm" data-snippet tabIndex={0}>
        {text}
      </Code>
      <CopyButton text={text} label="Copy the snippet" />
      <FirstCall />
    </Panel>
  );
}

/** Waits for a call that comes after the page was opened. */
function FirstCall() {
  const [openedAt] = useState(() => new Date().toISOString());
  const { data } = useQuery({
    queryKey: ["own", "first-call", openedAt],
    queryFn: ({ signal }) =>
      getJson<Page<RequestView>>(`/admin/v1/requests?limit=1&from=${encodeURIComponent(openedAt)}`, signal),
    refetchInterval: ({ state }) => ((state.data?.data.length ?? 0) > 0 ? false : POLL_MS),
  });
  const [call] = data?.data ?? [];
  return (
    <p role="status">
      {call ? (
        <>
          Your call was received:{" "}
          <Link to="/requests/$id" params={{ id: call.id }}>
            see its record
          </Link>
          .
        </>
      ) : (
        "Waiting for your next call…"
      )}
    </p>
  );
}

/** How to point a client at this gateway with the caller's `key`. */
type Snippet = { name: string; text: (address: string, key: string) => string };

const SNIPPETS: readonly Snippet[] = [
  {
    name: "Claude Code",
    text: (address, key) =>
      `export ANTHROPIC_BASE_URL=${address}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nclaude`,
  },
  {
    name: "Codex",
    text: (address, key) =>
      `export TALLYGATE_KEY=${key}\ncodex -c model_provider=tallygate \\\n  -c 'model_providers.tallygate={name="Tallygate",base_url="${address}/v1",env_key="TALLYGATE_KEY",wire_api="responses"}'`,
  },
  {
    name: "Gemini CLI",
    text: (address, key) => `export GOOGLE_GEMINI_BASE_URL=${address}\nexport GEMINI_API_KEY=${key}\ngemini`,
  },
  {
    name: "opencode",
    text: (address, key) =>
      `# opencode.json\n{ "provider": { "openai": { "options": { "baseURL": "${address}/v1", "apiKey": "${key}" } } } }`,
  },
  {
    name: "Cursor",
    text: (address, key) =>
      `Settings → Models → OpenAI API key: ${key}\nOverride OpenAI base URL: ${address}/v1`,
  },
  {
    name: "OpenAI SDK",
    text: (address, key) =>
      `import OpenAI from "openai";\nconst openai = new OpenAI({ baseURL: "${address}/v1", apiKey: "${key}" });`,
  },
  {
    name: "Anthropic SDK",
    text: (address, key) =>
      `import Anthropic from "@anthropic-ai/sdk";\nconst anthropic = new Anthropic({ baseURL: "${address}", apiKey: "${key}" });`,
  },
  {
    name: "curl",
    text: (address, key) =>
      `curl ${address}/v1/messages -H "x-api-key: ${key}" -H "content-type: application/json" \\\n  -d '{"model":"echo","max_tokens":64,"messages":[{"role":"user","content":"Hello"}]}'`,
  },
];
