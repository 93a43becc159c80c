import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { newQueryClient } from "./data/client.ts";
import { followRecords } from "./data/follow-records.ts";
import { copyExactly } from "./parts/exact-copy.ts";
import { newRouter } from "./router.tsx";
import { THEME } from "./theme.ts";

// Styles that are added later carry the page's nonce, as its policy demands.
const nonce = document.getElementById("style-nonce")?.nonce ?? "";
setNonce(nonce);
copyExactly();

const client = newQueryClient();
followRecords(client);
const router = newRouter(client);

const place = document.getElementById("root");
if (place) {
  createRoot(place).render(
    <StrictMode>
      <MantineProvider theme={THEME} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
