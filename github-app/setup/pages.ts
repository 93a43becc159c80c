import { SETUP_LINK_MINUTES } from "#shared/setup-link.ts";
import { type Html, html, page } from "./html.ts";

export type Asked = { url: string; organization: string; replaces: string };
/** An App that is set up already. */
export type Present = { id: number; name: string };

/** The form for data that GitHub cannot know. `present`: the App that a new one would replace. */
export const askForm = (given: Asked, fault: string | null, present: Present | null): Html => html`
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
</form>`;

export const askPage = (given: Asked, fault: string | null, present: Present | null): Response =>
  page(
    html`<p>GitHub registers an App from a prepared form. This server stores its credentials, encrypted with the master key.</p>
${askForm(given, fault, present)}
<p><a href="/setup">Back</a></p>`,
    { status: fault === null ? 200 : 400 },
  );

type Manifest = { default_permissions: Record<string, string>; hook_attributes: { url: string } };
type Checked = { manifest: Manifest; warnings: readonly string[]; reached: boolean };

/** The form that goes to GitHub, with objections to the address. */
export const confirmPage = (action: string, { manifest, warnings, reached }: Checked): Response =>
  page(
    html`${warnings.map((warning) => html`<p class="fault">${warning}</p>`)}
${
  reached
    ? html`<p>This server answers at the address.</p>`
    : html`<p class="fault">This server did not answer at the address, seen from here. If GitHub comes by another way, continue.</p>`
}
<p>GitHub will ask you to confirm an App that:</p>
<ul>
<li>may ${Object.entries(manifest.default_permissions).map(([name, access], index) => html`${index > 0 && ", "}<strong>${access}</strong> ${name.replaceAll("_", " ")}`)} of the repositories on which you install it, and nothing else;</li>
<li>sends its webhooks to <code>${manifest.hook_attributes.url}</code>.</li>
</ul>
<form action="${action}" method="post">
<input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<button>${warnings.length === 0 && reached ? "Go to GitHub" : "Continue to GitHub in spite of it"}</button>
</form>
<p>Complete all steps within one hour. <a href="/setup">Back</a></p>`,
    { formTarget: new URL(action).origin },
  );

export const faultPage = (fault: string, status: number): Response =>
  page(html`<p class="fault">${fault}</p><p><a href="/setup">Back to the set-up</a></p>`, { status });

/** For a browser that did not come by a one-time link. */
export const linkPage = (fault: string | null): Response =>
  page(
    html`${fault !== null && html`<p class="fault">${fault}</p>`}
<p>This page opens by a one-time link. Get one, valid for ${SETUP_LINK_MINUTES} minutes, where the admin key is:</p>
<ul>
<li>the start prints one while no App is set up;</li>
<li><code>tallygate setup-link</code> makes one at any time.</li>
</ul>
<p>Do not enter the admin key here: GitHub reaches this port, and so may others.</p>`,
    { status: 401 },
  );

/** Asks for a click, so that programs that preview links do not use it up. */
export const enterPage = (token: string): Response =>
  page(html`<p>This link opens the set-up page once.</p>
<form action="/setup/enter" method="post">
<input type="hidden" name="token" value="${token}">
<button>Open the set-up page</button>
</form>`);
