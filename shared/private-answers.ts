/**
 * Headers of every answer that does not have its own: almost all of them are private, and those that are not say how long
 * they may be kept. A provider's `cache-control` stays. No cache keeps them, and no browser reads them as another type.
 */
export const PRIVATE_ANSWER = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
