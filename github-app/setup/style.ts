/** Where the typeface of the pages is, below `/setup`. */
export const FONT_PATH = "/inter.woff2";

/** The look of the console: its colours are those of shared/tokens.css. */
export const STYLE = `
@font-face { font-family: "Inter"; src: url("/setup${FONT_PATH}") format("woff2"); font-weight: 100 900; font-display: swap; }
:root { color-scheme: light dark; --bg: #fff; --panel: #fff; --soft: #f6f7f9; --line: #e4e7ec; --ink: #101828; --mute: #5b6472;
  --accent: #3b4cca; --on-accent: #fff; --bad: #b42318; --good: #067647; }
@media (prefers-color-scheme: dark) { :root { --bg: #0d1117; --panel: #12171f; --soft: #161c26; --line: #262d3a; --ink: #e6e9ef;
  --mute: #98a2b3; --accent: #9aa6ff; --on-accent: #0d1117; --bad: #f97066; --good: #47cd89; } }
* { box-sizing: border-box; }
body { font: 14px/1.45 "Inter", ui-sans-serif, system-ui, sans-serif; font-feature-settings: "cv11" 1; color: var(--ink);
  background: var(--bg); margin: 24px auto; max-width: 56rem; padding: 0 16px; -webkit-font-smoothing: antialiased; }
h1, h2 { font-weight: 600; letter-spacing: -0.01em; } h1 { font-size: 20px; margin: 0 0 16px; }
h2 { font-size: 14px; margin: 24px 0 8px; }
.brand { display: flex; align-items: center; gap: 8px; margin: 0 0 16px; font-size: 16px; font-weight: 600; }
a { color: var(--accent); } .mute { color: var(--mute); }
code { background: var(--soft); border-radius: 4px; padding: 0.1em 0.3em; font-size: 13px; overflow-wrap: anywhere; }
.fault { border-left: 3px solid var(--bad); padding: 2px 12px; }
label { display: block; margin: 16px 0; font-size: 13px; font-weight: 500; }
input { font: inherit; font-weight: 400; width: 100%; min-height: 36px; margin-top: 2px; padding: 4px 10px; color: inherit;
  background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; font-weight: 600; min-height: 36px; padding: 4px 18px; color: var(--on-accent); background: var(--accent);
  border: 1px solid transparent; border-radius: 6px; cursor: pointer; }
button.quiet { color: var(--ink); background: var(--panel); border-color: var(--line); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
ol.steps { list-style: none; margin: 16px 0; padding: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
ol.steps > li { display: grid; grid-template-columns: 32px 1fr; padding: 16px; }
ol.steps > li + li { border-top: 1px solid var(--line); }
ol.steps > li > .mark { font-weight: 600; color: var(--mute); } ol.steps > li.done > .mark { color: var(--good); }
ol.steps p { margin: 4px 0; } ol.steps > li.current { background: var(--soft); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { color: var(--mute); font-size: 12px; font-weight: 500; }
th, td { text-align: left; padding: 7px 12px 7px 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { margin: 16px auto; } button { width: 100%; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
  td { display: grid; grid-template-columns: 8rem 1fr; gap: 8px; padding: 2px 0; border: 0; }
  td::before { content: attr(data-label); color: var(--mute); }
}`;
