import { readPresent } from "#shared/env.ts";

/** Each system's program that opens a page in the user's browser. */
function openerOf(platform: NodeJS.Platform): string[] | null {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  // Without a screen there is no browser, and some openers would start one in the terminal.
  return readPresent(["DISPLAY", "WAYLAND_DISPLAY"]).size > 0 ? ["xdg-open"] : null;
}

/** Tries to open a web page in the user's browser; the user has the address if nothing opens. */
export function openPage(address: string): void {
  const url = URL.parse(address);
  const opener = openerOf(process.platform);
  if (opener === null || url === null || !/^https?:$/.test(url.protocol)) return;
  const [program = "", ...words] = opener;
  const path = Bun.which(program);
  if (path === null) return;
  Bun.spawn([path, ...words, url.href], { stdio: ["ignore", "ignore", "ignore"] }).unref();
}
