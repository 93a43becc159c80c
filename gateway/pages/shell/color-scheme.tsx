import { SegmentedControl, useMantineColorScheme } from "@mantine/core";

const SCHEMES = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "System" },
] as const;

/** Light, dark, or the system's choice. */
export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const choose = (value: string) => {
    const scheme = SCHEMES.find((it) => it.value === value);
    if (scheme) setColorScheme(scheme.value);
  };
  return (
    <SegmentedControl
      aria-label="Colours"
      size="xs"
      fullWidth
      data={[...SCHEMES]}
      value={colorScheme}
      onChange={choose}
    />
  );
}
