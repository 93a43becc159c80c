import { Code, Group, PasswordInput, SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Page } from "#shared/admin/fields.ts";
import type { RequestView } from "#shared/admin/records.ts";
import { api, getJson } from "../data/api.ts";
import { CopyButton } from "../parts/copy.tsx";
import { SNIPPETS } from "./snippets.ts";

const POLL_MS = 2000;
/** Only a whole key is asked about: wrong ones slow their address down. */
const CLIENT_KEY = /^tg_\w{43}$/;
/** Answers without a vendor, so that a call succeeds before there is one. */
const BUILT_IN = "echo";

/** Calls for each client, filled in with this gateway's address, a key and a route of it, and a note once one arrives. */
export function ConnectAgent({ secret = "" }: { secret?: string }) {
  const [client, setClient] = useState(SNIPPETS[0]?.name);
  const [typed, setTyped] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [session] = useState(() => `task-${Math.random().toString(36).slice(2, 8)}`);
  const key = typed ?? secret;
  const routes = useRoutesOf(CLIENT_KEY.test(key) ? key : "");
  const model = chosen ?? routes.data?.[0] ?? BUILT_IN;
  const snippet = SNIPPETS.find(({ name }) => name === client);
  const sample = { address: location.origin, key: key || "YOUR_KEY", model, session };
  return (
    <>
      <Group align="start" mb="md">
        <PasswordInput
          label="Key"
          placeholder="tg_…"
          description="It stays on this page and is sent only to this gateway."
          value={key}
          onChange={(event) => setTyped(event.currentTarget.value.trim())}
          error={routes.isError && "The gateway does not accept this key."}
          autoComplete="off"
          w="100%"
          maw={300}
        />
        <Select
          label="Route"
          description="Of those that the key may use."
          value={model}
          onChange={setChosen}
          data={routes.data ?? [BUILT_IN]}
          allowDeselect={false}
          searchable
          w="100%"
          maw={240}
        />
      </Group>
      <SegmentedControl
        {...{ "aria-label": "Client", withItemsBorders: false, style: { flexWrap: "wrap" } }}
        value={client ?? ""}
        onChange={setClient}
        data={SNIPPETS.map(({ name }) => name)}
      />
      {snippet?.blocks(sample).map(({ title, text }) => (
        <div className="sample" key={title}>
          <Group justify="space-between">
            <span className="mute small">{title}</span>
            <CopyButton text={text} />
          </Group>
          <Code block p="sm" data-snippet={title} tabIndex={0}>
            {text}
          </Code>
        </div>
      ))}
      <p className="mute small">
        {snippet?.isWithoutSession ? (
          "It sends no session: its calls count for the key's owner, and no merge is joined to them."
        ) : (
          <>
            To join a merge to these calls, write the line <code>Gateway-Session: {session}</code> into the
            pull request's body. <code>tallygate install</code> makes your agents do it for each branch.
          </>
        )}
      </p>
      <FirstCall />
    </>
  );
}

type GoogleModels = { models: { baseModelId: string; supportedGenerationMethods: string[] }[] };

/** The routes for text that a key may use; the built-in one last. */
const useRoutesOf = (key: string) =>
  useQuery({
    queryKey: ["routes of a key", key],
    queryFn: async ({ signal }) => {
      const answer = await api("/v1beta/models?pageSize=1000", {
        headers: { "x-goog-api-key": key },
        signal,
      });
      const { models }: GoogleModels = await answer.json();
      const names = models
        .filter((it) => it.supportedGenerationMethods.includes("generateContent"))
        .map((it) => it.baseModelId);
      return [...names.filter((name) => name !== BUILT_IN), ...names.filter((name) => name === BUILT_IN)];
    },
    enabled: key !== "",
    retry: false,
  });

/** Waits for a call that is not among the latest ones of when the page was opened. */
function FirstCall() {
  const [before, setBefore] = useState<readonly string[] | null>(null);
  const { data: latest = [] } = useQuery({
    queryKey: ["own", "latest-calls"],
    queryFn: async ({ signal }) => {
      const { data } = await getJson<Page<RequestView>>("/admin/v1/requests?limit=20", signal);
      const ids = data.map(({ id }) => id);
      setBefore((known) => known ?? ids);
      return ids;
    },
    refetchInterval: POLL_MS,
    gcTime: 0,
  });
  const made = before && latest.find((id) => !before.includes(id));
  return (
    <p role="status">
      {made ? (
        <>
          Your call was received:{" "}
          <Link className="link" to="/requests/$id" params={{ id: made }}>
            see its record
          </Link>
          .
        </>
      ) : (
        before !== null && "Waiting for your next call…"
      )}
    </p>
  );
}
