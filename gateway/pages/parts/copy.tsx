import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <Button size="compact-sm" onClick={() => clipboard.copy(text)} aria-live="polite">
      {clipboard.copied ? "Copied" : label}
    </Button>
  );
}
