import { DemoFault, type Pair } from "./pair.ts";

export type Admin = <T = unknown>(method: string, path: string, body?: unknown) => Promise<T>;

/** Calls of the gateway with the admin key; an answer that is not 2xx is thrown. */
export const adminOf =
  ({ gatewayUrl, adminKey }: Pair): Admin =>
  async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(gatewayUrl + path, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new DemoFault(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return (text === "" ? null : JSON.parse(text)) as T;
  };

export type Furnished = { clientKey: string; routeOf(model: string): string; remove(): Promise<void> };

type Wanted = { run: string; openaiUrl: string; anthropicUrl: string; models: readonly string[] };

/**
 * A client key, the two vendors, a route for each model, and stamping switched on. `remove` takes all of it away again
 * and sets stamping as it was; the records stay.
 */
export async function furnish(
  admin: Admin,
  { run, openaiUrl, anthropicUrl, models }: Wanted,
): Promise<Furnished> {
  const undo: (() => Promise<unknown>)[] = [];
  const remove = async () => {
    for (const step of undo.toReversed()) await step();
  };
  const put = async (path: string, body: object) => {
    await admin("PUT", path, body);
    undo.push(() => admin("DELETE", path));
  };
  // Of equals the gateway takes the first by name: so that the calls of others never go to the demo's vendors.
  const providerOf = (model: string) =>
    `z-demo-${run}-${model.startsWith("claude") ? "anthropic" : "openai"}`;
  const routeOf = (model: string) => `z-demo-${run}-${model}`;
  const common = { credential: "of-the-demo", allow_private_network: true, models: [] };
  try {
    await put(`/admin/v1/providers/${providerOf("gpt")}`, { ...common, kind: "openai", base_url: openaiUrl });
    await put(`/admin/v1/providers/${providerOf("claude")}`, {
      ...common,
      kind: "anthropic",
      base_url: anthropicUrl,
    });
    for (const model of models) {
      await put(`/admin/v1/routes/${routeOf(model)}`, {
        surface: "chat",
        provider: providerOf(model),
        model,
      });
    }
    const key = await admin<{ id: string; secret: string }>("POST", "/admin/v1/keys", {
      name: `demo ${run}`,
      owner: "demo@example.com",
    });
    undo.push(() => admin("DELETE", `/admin/v1/keys/${key.id}`));
    const settings = await admin<{ pull_request_stamping: boolean }>("GET", "/admin/v1/settings");
    if (!settings.pull_request_stamping) {
      await admin("PATCH", "/admin/v1/settings", { pull_request_stamping: true });
      undo.push(() => admin("PATCH", "/admin/v1/settings", { pull_request_stamping: false }));
    }
    return { clientKey: key.secret, routeOf, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
