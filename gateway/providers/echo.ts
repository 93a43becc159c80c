import type { SurfaceName } from "../call.ts";
import { echoChat, refuseChat } from "./echo-chat.ts";
import { echoMessages, refuseMessages } from "./echo-messages.ts";
import { type Told, toldIn } from "./told.ts";

/** How the built-in provider answers a surface, and how it refuses a body that it cannot read. */
type Echo = { answer(body: Told, id: string): Response; refuse(message: string, id: string): Response };

const ECHOES = {
  "chat.completions": { answer: echoChat, refuse: refuseChat },
  messages: { answer: echoMessages, refuse: refuseMessages },
} as const satisfies Record<SurfaceName, Echo>;

/**
 * The built-in provider's answer: the text of the last user message, plain or streamed, exactly as the vendor whose
 * wire it is would frame it. The same bytes always get the same answer; it has no clock, so `created` is 0.
 */
export function echoFetch(request: { surface: SurfaceName; bytes: Uint8Array }): Response {
  const echo: Echo = ECHOES[request.surface];
  const id = Bun.hash(request.bytes).toString(16).padStart(16, "0");
  const body = toldIn(request.bytes);
  if (!body) return echo.refuse("The body is not a JSON object.", id);
  if (!Array.isArray(body["messages"])) return echo.refuse("messages: an array is required.", id);
  return echo.answer(body, id);
}
