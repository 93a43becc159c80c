import { codeOf } from "#shared/error-code.ts";
import { isDamage } from "#shared/file-lock.ts";

/** Whether the fault lies with a segment or its disk. */
export const isSpoolFault = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_");

/** Whether a segment cannot be read: it is damaged, or cut short, or its disk refuses a page. */
export const isUnreadable = (error: unknown): boolean =>
  isDamage(error) || /^SQLITE_IOERR_(READ|SHORT_READ)/.test(codeOf(error));
