import querystring from "node:querystring";
import type { AlertContent } from "#drizzle/schema/alerts.ts";
import type { Receiver } from "#shared/admin/alerts.ts";
import type { OutboundFetch } from "../upstream/outbound-fetch.ts";
import { signedPost } from "../upstream/signed-post.ts";
import type { AddressGuard } from "../upstream/ssrf.ts";

export type DeliverDeps = { reach: OutboundFetch; addressGuard: Pick<AddressGuard, "resolveOrigin"> };

export type AlertMessage = { id: string; at: Date; alert: string; content: AlertContent };

const ANSWER_MS_MAX = 20_000;

/** Sends a message, once. @throws Error if the receiver does not take it. */
export async function deliver(deps: DeliverDeps, receiver: Receiver, message: AlertMessage): Promise<void> {
  if (receiver.kind === "email") return sendMail(deps, receiver, message);
  const { url, secret, allow_private_network: allowPrivateNetwork = false } = receiver;
  const body = JSON.stringify(PAYLOAD[receiver.kind](message));
  await signedPost(deps.reach, { url, allowPrivateNetwork }, { ...message, body, secret });
}

/** Slack reads `<…>` as links, and `&` as the start of an entity. */
const slackText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const PAYLOAD = {
  webhook: ({ alert, at, content }: AlertMessage) => ({
    type: "tallygate.alert",
    alert,
    at: at.toISOString(),
    ...content,
  }),
  slack: ({ content: { title, text } }: AlertMessage) => ({
    text: `*${slackText(title)}*\n${slackText(text)}`,
  }),
  teams: ({ content: { title, text } }: AlertMessage) => ({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            // A model's name is its caller's: other blocks read Markdown, such as links.
            { type: "RichTextBlock", inlines: [{ type: "TextRun", text: title, weight: "Bolder" }] },
            { type: "RichTextBlock", inlines: [text] },
          ],
        },
      },
    ],
  }),
} as const;

/** Over the address that was checked, with TLS unless the server may be a private one. */
async function sendMail(
  { addressGuard }: DeliverDeps,
  { url, addresses = [], from, allow_private_network: allowPrivate = false }: Receiver,
  { id, content }: AlertMessage,
): Promise<void> {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const [resolved] = await addressGuard.resolveOrigin(`https://${hostname}`, allowPrivate);
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host: (resolved?.origin ? new URL(resolved.origin).hostname : hostname).replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !allowPrivate,
    tls: { servername: hostname },
    ...(username !== "" && {
      // A password may have a `%` of its own.
      auth: { user: querystring.unescape(username), pass: querystring.unescape(password) },
    }),
    connectionTimeout: ANSWER_MS_MAX,
    greetingTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from,
      to: addresses,
      subject: content.title,
      text: content.text,
      messageId: `<${id}@tallygate>`,
    });
  } finally {
    transport.close();
  }
}
