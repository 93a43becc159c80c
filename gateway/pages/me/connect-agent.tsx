import { Code, PasswordInput, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { getJson } from "../data/api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Panel } from "../parts/page-head.tsx";
import { SNIPPETS } from "./snippets.ts";

const POLL_MS = 2000;

/** A snippet for each client, filled in with this gateway's address, and a look-out for the first call. */
export function ConnectAgent() {
  const [client, setClient] = useState(SNIPPETS[0]?.name ?? "");
  const [key, setKey] = useState("");
  const text = SNIPPETS.find(({ name }) => name === client)?.text(location.origin, key || "YOUR_KEY") ?? "";
  return (
    <Panel title="Connect an agent" sub="Paste your key to have it in the snippet. It stays in this page.">
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
