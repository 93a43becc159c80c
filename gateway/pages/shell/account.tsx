import { Button, Menu, SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { api } from "../data/api.ts";
import { useMe } from "../data/me.ts";
import { plainName } from "../parts/values.tsx";

export function Account({ showKeys }: { showKeys: () => void }) {
  const { email, name, role, team } = useMe();
  const signOut = useSignOut();
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <Button variant="subtle" color="gray" size="xs" fullWidth justify="flex-start" mb="sm">
          <span className="cut">{plainName(name || email)}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <span className="foreign">{plainName(email)}</span>
          <br />
          {role}
          {team && ` of ${plainName(team)}`}
        </Menu.Label>
        <Menu.Item onClick={showKeys}>Keyboard</Menu.Item>
        <Menu.Item component="a" href="/docs">
          Docs
        </Menu.Item>
        <Menu.Item component="a" href="/openapi">
          API
        </Menu.Item>
        <Menu.Item onClick={signOut}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Ends the session here and at the gateway; nothing that was shown stays in memory. */
export function useSignOut(): () => void {
  const client = useQueryClient();
  return () => {
    void api("/auth/sign-out", { method: "POST" })
      .catch(() => undefined)
      .then(() => {
        client.clear();
        location.assign("/sign-in");
      });
  };
}

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
