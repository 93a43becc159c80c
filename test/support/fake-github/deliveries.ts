import { randomUUID } from "node:crypto";
import { type Payload, schemaFaults, signatureOf } from "../github-payloads.ts";
import { seconds } from "./world.ts";

/** One attempt to deliver an event, as GitHub lists it. */
export type Attempt = {
  id: number;
  guid: string;
  deliveredAt: Date;
  redelivery: boolean;
  statusCode: number;
  event: string;
  body: string;
  /** GitHub answers 422 when it is asked to deliver it again. */
  stuck?: boolean;
};

export type Hook = { url: string; secret: string };

/** `lost`: GitHub could not reach the address. `silent`: nothing is delivered and nothing listed. */
export type SendOptions = { guid?: string; lost?: boolean; silent?: boolean };

/** GitHub's deliveries to the App's webhook, each attempt kept in a list. */
export function createDeliveries(now: () => Date, newId: () => number, hookOf: () => Hook | null) {
  const attempts: Attempt[] = [];
  const faults: string[] = [];
  const checked = new Map<string, number>();

  /** Payloads of one kind are alike; the first of each are held against GitHub's schema. */
  const check = (event: string, payload: Payload) => {
    const kind = `${event}.${payload["action"]}`;
    const count = (checked.get(kind) ?? 0) + 1;
    checked.set(kind, count);
    if (count > 20) return;
    // GitHub sends null for the repository of a head that was deleted; its own schemas do not say so.
    const found = schemaFaults(event, payload).filter((fault) => !fault.includes("/head/repo "));
    faults.push(...found.map((fault) => `${kind}: ${fault}`));
  };

  const attempt = async (
    event: string,
    guid: string,
    body: string,
    options: { lost: boolean; again: boolean },
  ) => {
    const hook = hookOf();
    const statusCode = options.lost || hook === null ? 0 : await post(hook, event, guid, body);
    const made = {
      id: newId(),
      guid,
      deliveredAt: now(),
      redelivery: options.again,
      statusCode,
      event,
      body,
    };
    attempts.push(made);
    return made;
  };

  return {
    attempts,
    faults,
    /** Delivers an event; resolves when the App has answered. GitHub never tries again by itself. */
    send: (event: string, payload: Payload, { guid = randomUUID(), lost = false }: SendOptions = {}) => {
      check(event, payload);
      return attempt(event, guid, JSON.stringify(payload), { lost, again: false });
    },
    /** Whether GitHub would deliver it again: it does so for three days. */
    mayRepeat: (id: number): boolean => {
      const it = attempts.find((one) => one.id === id);
      return it === undefined || (!it.stuck && now().getTime() - it.deliveredAt.getTime() < 3 * 86_400_000);
    },
    /** Delivers the event of an attempt once more, as `POST /app/hook/deliveries/{id}/attempts` asks for. */
    again: (id: number) => {
      const first = attempts.find((it) => it.id === id);
      return first ? attempt(first.event, first.guid, first.body, { lost: false, again: true }) : null;
    },
    /** One page, newest first; `cursor` is the id of the last attempt of the page before. */
    list: (query: { perPage: number; cursor: string | null }) => {
      const sorted = attempts.toSorted((a, b) => b.id - a.id);
      const start = query.cursor === null ? 0 : sorted.findIndex((it) => it.id < Number(query.cursor));
      const page = start < 0 ? [] : sorted.slice(start, start + query.perPage);
      const last = page.at(-1);
      const more = last !== undefined && sorted.at(-1) !== last;
      return { page, next: more ? String(last.id) : null };
    },
  };
}

export type Deliveries = ReturnType<typeof createDeliveries>;

async function post({ url, secret }: Hook, event: string, guid: string, body: string): Promise<number> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/fake",
        "x-github-event": event,
        "x-github-delivery": guid,
        "x-hub-signature-256": signatureOf(body, secret),
      },
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

const STATUS_TEXT: Record<number, string> = { 0: "failed to connect to host", 200: "OK", 202: "OK" };

export function attemptView(it: Attempt) {
  const payload = JSON.parse(it.body) as {
    action?: string;
    installation?: { id: number };
    repository?: { id: number };
  };
  return {
    id: it.id,
    guid: it.guid,
    delivered_at: seconds(it.deliveredAt),
    redelivery: it.redelivery,
    duration: 0.03,
    status: STATUS_TEXT[it.statusCode] ?? "Invalid HTTP Response",
    status_code: it.statusCode,
    event: it.event,
    action: payload.action ?? null,
    installation_id: payload.installation?.id ?? null,
    repository_id: payload.repository?.id ?? null,
    throttled_at: null,
  };
}

export const attemptDetailView = (it: Attempt) => ({
  ...attemptView(it),
  request: { headers: {}, payload: JSON.parse(it.body) },
  response: { headers: {}, payload: "" },
});
