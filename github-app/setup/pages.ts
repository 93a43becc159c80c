import type { CoverageWindow } from "#shared/coverage.ts";
import type { AppStatus } from "./app-status.ts";
import { html, page } from "./html.ts";

/** Step 1: asks for what GitHub cannot know. */
export const askPage = (given: { url: string; organization: string }, fault: string | null): Response =>
  page(
    html`<p>GitHub registers an App from a prepared form. This server stores its credentials, encrypted with the master key.</p>
${fault !== null && html`<p class="fault">${fault}</p>`}
<form action="/setup/new" method="get">
<label>Address at which GitHub reaches this server
<input name="url" type="url" required value="${given.url}" placeholder="https://tallygate.example.com"></label>
<label>Organisation that will own the App (leave empty for your own account)
<input name="organization" value="${given.organization}" autocomplete="off"></label>
<button>Continue</button>
</form>`,
    { status: fault === null ? 200 : 400 },
  );

/** Step 2: the form that goes to GitHub. */
export const confirmPage = (
  action: string,
  manifest: { default_permissions: Record<string, string>; hook_attributes: { url: string } },
): Response =>
  page(
    html`<p>GitHub will ask you to confirm an App that:</p>
<ul>
<li>may ${Object.entries(manifest.default_permissions).map(([name, access], index) => html`${index > 0 && ", "}<strong>${access}</strong> ${name.replaceAll("_", " ")}`)} of the repositories on which you install it, and nothing else;</li>
<li>sends its webhooks to <code>${manifest.hook_attributes.url}</code>.</li>
</ul>
<form action="${action}" method="post">
<input type="hidden" name="manifest" value="${JSON.stringify(manifest)}">
<button>Go to GitHub</button>
</form>
<p>Complete all steps within one hour.</p>`,
    { formTarget: new URL(action).origin },
  );

export const faultPage = (fault: string, status: number): Response =>
  page(html`<p class="fault">${fault}</p><p><a href="/setup">Start again</a></p>`, { status });

/** The App's state, for administrators. `state` authorises its forms; null: nothing can be changed here. */
export const statusPage = (status: AppStatus, state: string | null): Response =>
  page(html`${registration(status)}${warnings(status)}${webhookSecret(status, state)}
<h2>Installations</h2>
${
  status.installations.length === 0
    ? html`<p>The App is not installed yet.</p>`
    : table(
        ["Account", "State", "Since"],
        status.installations.map((it) => [it.account, it.state, it.changedAt]),
      )
}
<h2>Repositories</h2>
${
  status.repositories.length === 0
    ? html`<p>The App covers no repository yet.</p>`
    : table(
        ["Repository", "Covered", "Pull requests", "Merged", "Joined", "Read"],
        status.repositories.map((it) => [
          it.fullName,
          html`${it.covered ? "now" : "no longer"}${it.windows.map((one) => html`<br>${windowText(one)}`)}`,
          it.pullRequests,
          it.merged,
          it.joined,
          passText(it.pass),
        ]),
      )
}
${status.more && html`<p>The gateway lists all repositories at <code>GET /admin/v1/repositories</code>.</p>`}
<p>${status.pending} deliveries are waiting. The last one arrived: ${status.lastDeliveryAt ?? "never"}.</p>`);

const registration = ({ app, registration: known, installUrl }: AppStatus) => html`<p>${
  app === null
    ? "The App is receive-only: it does not call GitHub."
    : html`It is the GitHub App <strong>${known?.slug ?? app}</strong>.`
}</p>
${installUrl !== null && html`<p><a href="${installUrl}">Choose the repositories on which it is installed.</a></p>`}`;

/** Only for an App that was registered here. */
const webhookSecret = ({ registered }: AppStatus, state: string | null) =>
  registered !== null &&
  state !== null &&
  html`${
    registered.secretPending &&
    html`<p class="fault">GitHub has not confirmed the new webhook secret. Both secrets are accepted. Change it again to complete the change.</p>`
  }
<form action="/setup/secret" method="post">
<input type="hidden" name="state" value="${state}">
<p><button>Change the webhook secret</button> ${
    registered.formerSecretUntil === null
      ? "This takes a few seconds, and no delivery is refused."
      : `It was changed; the former one is accepted until ${registered.formerSecretUntil}.`
  }</p>
</form>`;

const warnings = ({ stamping, registration: known, registrationFault }: AppStatus) =>
  html`${
    !stamping &&
    html`<p class="fault">The setting <code>pull_request_stamping</code> is off, so deliveries are not stored. Switch it on in the gateway's settings.</p>`
  }${registrationFault !== null && html`<p class="fault">${registrationFault}</p>`}${
    known !== null &&
    known.missingPermissions.length + known.missingEvents.length > 0 &&
    html`<p class="fault">GitHub does not grant everything that the settings need. Missing: ${[...known.missingPermissions, ...known.missingEvents].join(", ")}.</p>`
  }`;

const table = (heads: string[], rows: unknown[][]) => html`<table>
<thead><tr>${heads.map((head) => html`<th>${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;

const windowText = ({ from, until, end }: CoverageWindow): string =>
  until === null ? `since ${from}` : `${from} to ${until} (${end})`;

function passText(pass: AppStatus["repositories"][number]["pass"]): string {
  if (pass === null) return "not read";
  if (pass.failure !== null) return `failed: ${pass.failure}`;
  if (pass.phase !== "idle") return `${pass.pulls} pull requests, ${pass.reviews} reviews so far`;
  if (pass.readUpTo !== null) return `read up to ${pass.readUpTo}`;
  return pass.finishedAt === null ? "waiting" : "read, none found";
}
