/**
 * The colours that the reader chose in the console, else the system's, and a navigation that shows where the reader is. A
 * separate file, because the policy forbids inline scripts; without it the pages are light.
 */
export const SCRIPT = `const dark = matchMedia("(prefers-color-scheme: dark)");
function take() {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch {}
  const isDark = chosen === "dark" || (chosen !== "light" && dark.matches);
  document.documentElement.dataset.mantineColorScheme = isDark ? "dark" : "light";
}
take();
dark.addEventListener("change", take);
addEventListener("storage", take);
addEventListener("DOMContentLoaded", () => {
  document.querySelector("header [aria-current]")?.scrollIntoView({ block: "nearest" });
});
`;
