import { SETUP_LINK_MINUTES } from "#shared/setup-link.ts";
import { type Html, html, page } from "./html.ts";

export type Asked = { url: string; organization: string; replaces: string };
/** An App that is set up already. */
export type Present = { id: number; name: string };

/** The form for data that GitHub cannot know. `present`: the App that a new one would replace. */
export const askPage = (given: Asked, fault: string | null, present: Present | null): Response =>
  page(
    html`<p>GitHub registers an App from a prepared form. This server stores its credentials, encrypted with the master key.</p>
${fault !== null && html`<p class="fault">${fault}</p>`}
<form action="/setup/new" method="get">
<label>Address at which GitHub reaches this server
<input name="url" type="url" required value="${given.url}" placeholder="https://tallygate.example.com"></label>
<label>Organisation that will own the App (leave empty for your own account)
<input name="organization" value="${given.organization}" autocomplete="off"></label>
${
  present !== null &&
  html`<p class="fault">The App <strong>${present.name}</strong> works here. If you make another one, this server forgets its keys, and refuses its deliveries.</p>
<label>To replace it, enter its name: ${present.name}
<input name="replaces" value="${given.replaces}" autocomplete="off" required></label>`
}
<button>Continue</button>
</form>`,
    { status: fault === null ? 200 : 400 },
  );

type Manifest = { default_permissions: Record<string, string>; hook_attributes: { url: string } };

/** The form that goes to GitHub, with an objection to the address; null without one. */
export const confirmPage = (action: string, manifest: Manifest, warning: string | null): Response =>
  page(
    html`${warning !== null && html`<p class="fault">${warning}</p>`}
<p>GitHub will ask you to confirm an App that:</p>
<ul>
<li>may ${Object.entries(manifest.default_permissions).map(([name, access], index) => html`${index > 0 && ", "}<strong>${access}</strong> ${name.replaceAll("_", " ")}`)} of the repositories on which you install it, and nothing else;</li>
<li>sends its webhooks to <code>${manifest.hook_attributes.url}</code>.</li>
</ul>
<form action="${action}" method="post">
<input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<button>${warning === null ? "Go to GitHub" : "Continue to GitHub in spite of it"}</button>
</form>
<p>Complete all steps within one hour. <a href="/setup">Back</a></p>`,
    { formTarget: new URL(action).origin },
  );

export const faultPage = (fault: string, status: number): Response =>
  page(html`<p class="fault">${fault}</p><p><a href="/setup">Back to the set-up</a></p>`, { status });

/** For a browser that did not come by a one-time link. */
export const linkPage = (fault: string | null, consoleUrl: string): Response =>
  page(
    html`${fault !== null && html`<p class="fault">${fault}</p>`}
<p>This page opens by a one-time link, valid for ${SETUP_LINK_MINUTES} minutes. <a href="${consoleUrl}">Set up in the console</a> opens one, <code>tallygate setup-link</code> prints one, and so does the start while no App is set up.</p>
<p>Do not enter the admin key here: GitHub reaches this port, and so may others.</p>`,
    { status: 401 },
  );

/** No redirect: browsers apply the policy of the form that began the way to every step of it. */
export const madePage = (installUrl: string): Response =>
  page(html`<p>The App is registered. <a href="${installUrl}">Install it on your repositories</a>.</p>`, {
    next: installUrl,
  });

/** Asks for a click, so that programs that preview links do not use it up. */
export const enterPage = (token: string): Response =>
  page(html`<p>This link registers the GitHub App, and works once.</p>
<form action="/setup/enter" method="post">
<input type="hidden" name="token" value="${token}">
<button>Continue</button>
</form>`);

/** The public page at `/`: whether the App is set up, and where to do it. `app`: its id on GitHub. It names no repository. */
export const publicPage = (state: PublicState): Response =>
  page(html`<p>${stateText(state)} Webhooks arrive at <code>${state.webhookPath}</code>.</p>
<p>Administrators set it up, and see its state, in <a href="${state.consoleUrl}">the gateway's console</a>. Without a gateway, open the one-time link that the start prints, or set <code>WEBHOOK_SECRET</code>, <code>APP_ID</code> and <code>PRIVATE_KEY</code>.</p>`);

type PublicState = { app: number | null; receives: boolean; webhookPath: string; consoleUrl: string };

const stateText = ({ app, receives }: PublicState): Html => {
  if (!receives) return html`The App is <strong>not configured</strong>: it accepts no webhooks.`;
  if (app !== null) return html`It is the GitHub App <strong>${app}</strong>.`;
  return html`The App is <strong>receive-only</strong>: it processes webhooks, but does not call GitHub.`;
};
