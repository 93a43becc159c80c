import type { LocalGateway } from "#test/support/local-gateway.ts";
import {
  type Reply,
  type ScriptedUpstream,
  type SeenRequest,
  scriptedUpstream,
} from "#test/support/scripted-upstream.ts";

/** A chat answer of 7 and 5 tokens by the model that was asked. */
export function answerDone({ body }: SeenRequest, reply: Reply, headers?: Record<string, string>): void {
  // A gateway that stops may leave before it has sent the body.
  const { model } = body === "" ? {} : JSON.parse(body);
  const message = { role: "assistant", content: "done" };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  reply.json(
    { id: "c", object: "chat.completion", model, choices: [{ index: 0, message }], usage },
    200,
    headers,
  );
}

/** A provider that gives such answers, each once `asked` resolves. */
export const doneVendor = (
  asked: (request: SeenRequest) => unknown = () => undefined,
): Promise<ScriptedUpstream> =>
  scriptedUpstream(async (request, reply) => {
    await asked(request);
    answerDone(request, reply);
  });

/** A model that costs a cent a call, whatever it says. */
export const priceCent = (gateway: Pick<LocalGateway, "admin">, model: string) =>
  gateway.admin("POST", "/prices", {
    model,
    effective_from: "2020-01-01",
    input: "0",
    output: "0",
    per_call: "0.01",
  });

/** The provider `vendor` with the model `cent`, which costs a cent a call. */
export async function offerCent(
  { admin }: Pick<LocalGateway, "admin">,
  url: string,
  credential?: string,
): Promise<void> {
  await admin("PUT", "/providers/vendor", {
    kind: "openai-compatible",
    base_url: `${url}/v1`,
    allow_private_network: true,
    models: ["cent"],
    ...(credential && { credential }),
  });
  await priceCent({ admin }, "cent");
}
