/**
 * Whether a glob matches the whole text: `*` matches any run of characters, `?` exactly one; case-sensitive. Takes at
 * most pattern × text steps.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let read = 0;
  // The last star and the text position there: on a mismatch, that star takes one character more.
  let star = -1;
  let resume = 0;
  while (read < text.length) {
    if (glob[at] === "*") {
      star = at++;
      resume = read;
    } else if (at < glob.length && (glob[at] === "?" || glob[at] === text[read])) {
      at++;
      read++;
    } else if (star >= 0) {
      at = star + 1;
      read = ++resume;
    } else {
      return false;
    }
  }
  return /^\**$/.test(glob.slice(at));
}
