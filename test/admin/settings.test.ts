import { beforeAll, expect, test } from "bun:test";
import { settings } from "#drizzle/schema/routes.ts";
import { DEFAULT_SETTINGS } from "#shared/settings.ts";
import { type World, world } from "./world.ts";

let it: World;
beforeAll(async () => {
  it = await world();
});
test("the settings of a new installation are the defaults", async () => {
  expect((await it.call("GET", "/settings")).body).toEqual(DEFAULT_SETTINGS);
});

test("PATCH changes what it names, at once and for the GitHub App's process too", async () => {
  const answer = await it.call("PATCH", "/settings", { pull_request_stamping: true, retention_days: 30 });
  const expected = { ...DEFAULT_SETTINGS, pull_request_stamping: true, retention_days: 30 };
  expect(answer.body).toEqual(expected);
  expect(it.directory.current().settings).toEqual(expected);
  expect((await it.database.db.select().from(settings))[0]?.value).toEqual(expected);
});

test.each([
  [{ retention_days: 0 }, 400, "/retention_days: "],
  [{ hooks: "yes" }, 400, "/hooks: Expected boolean"],
  [{ digest_hour: 24 }, 400, "/digest_hour: "],
  [{ digest_day: "Mon" }, 400, "/digest_day: Expected one of sunday, monday"],
  [{ digest_repository: "acme" }, 400, "/digest_repository: "],
  [{ default_route: "auto" }, 422, "/default_route: No route is named auto"],
  [{ default_route: "nobody" }, 422, "/default_route: No route is named nobody"],
  [{ default_route: "tts" }, 422, "/default_route: The route tts serves tts"],
])("%p is refused", async (body, status, message) => {
  const answer = await it.call("PATCH", "/settings", body);
  expect(answer.status).toBe(status);
  expect(answer.body.error.message).toStartWith(message);
});

test("members that another version stored do no harm", async () => {
  await it.database.db.update(settings).set({ value: { hooks: "no", later: 1, retention_days: 12 } });
  expect((await it.call("GET", "/settings")).body).toEqual({ ...DEFAULT_SETTINGS, retention_days: 12 });
});
