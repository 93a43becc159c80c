import { compileLexicon, type Lexicon } from "./cues.ts";
import ar from "./lexicon/ar.json";
import de from "./lexicon/de.json";
import en from "./lexicon/en.json";
import es from "./lexicon/es.json";
import fr from "./lexicon/fr.json";
import hi from "./lexicon/hi.json";
import it from "./lexicon/it.json";
import ja from "./lexicon/ja.json";
import ko from "./lexicon/ko.json";
import nl from "./lexicon/nl.json";
import pt from "./lexicon/pt.json";
import ru from "./lexicon/ru.json";
import tr from "./lexicon/tr.json";
import zh from "./lexicon/zh.json";

/** The cues of all languages, as they are written down. */
export const CUES = [en, zh, es, fr, de, pt, it, ru, ja, ko, ar, hi, nl, tr];

let compiled: Lexicon | null = null;

/** The same, compiled when it is first used. */
export function lexicon(): Lexicon {
  compiled ??= compileLexicon(CUES);
  return compiled;
}
