import { SegmentedControl, useMantineColorScheme } from "@mantine/core";

const SCHEMES = { light: "Light", dark: "Dark", auto: "System" } as const;

/** Light, dark, or the system's choice. */
export function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      {...{ "aria-label": "Colours", size: "xs", fullWidth: true }}
      data={Object.entries(SCHEMES).map(([value, label]) => ({ value, label }))}
      value={colorScheme}
      // The table's names are schemes.
      onChange={(value) => setColorScheme(value as keyof typeof SCHEMES)}
    />
  );
}
