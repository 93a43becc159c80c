import { colorsTuple, createTheme } from "@mantine/core";

const ACCENT = colorsTuple(
  "#eef0fd #dcdff8 #b7bdee #9aa6ff #6f7de0 #5563d8 #3b4cca #3342b4 #2a389b #1f2a78".split(" "),
);

/** From text to background; of the same hue as the dark colours in shared/tokens.css. */
const DARK = colorsTuple(
  "#e6e9ef #c3c9d4 #98a2b3 #7d8798 #2f3848 #1f2734 #171d28 #12171f #0d1117 #090c11".split(" "),
);

/** Readable as text and below white text, on light and dark; shades 4 and 6 are `--bad` of shared/tokens.css. */
const RED = colorsTuple(
  "#fef3f2 #fee4e2 #fecdca #fda29b #f97066 #d92d20 #b42318 #912018 #7a271a #55160c".split(" "),
);

/** One accent for what can be clicked, one typeface, an 8-pixel grid. The colours of the pages are in shared/tokens.css. */
export const THEME = createTheme({
  fontFamily: '"Inter Variable", ui-sans-serif, system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  primaryColor: "accent",
  primaryShade: { light: 6, dark: 5 },
  colors: { accent: ACCENT, dark: DARK, red: RED },
  defaultRadius: 6,
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  spacing: { xs: "4px", sm: "8px", md: "16px", lg: "24px", xl: "32px" },
  headings: { fontWeight: "600" },
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  components: {
    // Buttons are quiet; a page's main action is `filled`.
    Button: { defaultProps: { variant: "default" } },
    Modal: {
      defaultProps: { closeButtonProps: { "aria-label": "Close" } },
      styles: { title: { fontWeight: 600 } },
    },
  },
});
