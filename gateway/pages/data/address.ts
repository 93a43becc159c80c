import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";

type Change<S> = Partial<{ [K in keyof S]: S[K] | undefined }>;

/** The page's state, which is its address: what it reads, and a way to change parts of it (`undefined` removes one). */
export function useAddress<S extends object>(
  read: (raw: Record<string, unknown>) => S,
): [S, (change: Change<S>, options?: { replace?: boolean }) => void] {
  const raw: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const state = useMemo(() => read(raw), [raw, read]);
  const change = useCallback(
    (parts: Change<S>, { replace = false } = {}) =>
      void navigate({
        to: ".",
        // Each page's reader drops what is not its own.
        search: (before: Record<string, unknown>) => ({ ...before, ...parts }),
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  return [state, change];
}

/** For parameters whose names are not known before. */
export const asItIs = (raw: Record<string, unknown>) => raw;
