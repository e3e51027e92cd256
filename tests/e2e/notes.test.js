// Notes in real Chromium: two people see each other's at once, a note leads to its place and is found again, hostile text is
// text, whoever may only read can only read; and what all of it looks like.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { accessible } from "./lib/axe.js";
import { fits, idle, launch, screenshot, watched } from "./lib/browser.js";
import { logdirs } from "./lib/logdirs.js";
import { serve } from "./lib/servers.js";

const kHostile =
  '<img src=x onerror="window.hit=1"> [x](javascript:window.hit=1) **bold** `code`';
const kTrace = "#v=1&run=run&worker=node_0&span=1&view=trace";

const dirs = logdirs();
const folder = mkdtempSync(join(tmpdir(), "traceglass-notes-"));
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  dirs.remove();
  rmSync(folder, { recursive: true });
});

let count = 0;
/** A server with notes of its own. */
const serve_notes = (...options) =>
  serve(dirs.made, "--notes", join(folder, `${count++}.db`), ...options);

async function person(server, options = {}) {
  const view = await watched(browser, server.url, options);
  await view.page.goto(server.url + (options.at ?? kTrace));
  await idle(view.page);
  await panel_button(view.page).waitFor();
  return view;
}

const panel_button = (page) => page.getByRole("button", { name: /^Notes/ });
const panel = (page) => page.getByRole("complementary", { name: "Notes" });

async function add(page, what, text, name) {
  if (!(await panel(page).isVisible())) await panel_button(page).click();
  await panel(page).getByRole("button", { name: what }).click();
  await write(page, text, name);
}

async function write(page, text, name) {
  await panel(page)
    .getByRole("textbox", { name: "What do you see?" })
    .fill(text);
  if (name !== undefined)
    await panel(page).getByRole("textbox", { name: "Your name" }).fill(name);
  await panel(page)
    .getByRole("button", { name: "Add note", exact: true })
    .click();
  await panel(page)
    .getByRole("button", { name: "Add note", exact: true })
    .waitFor({ state: "detached" });
}

async function select(page, name) {
  await page.goto(
    `${page.url().split("#")[0]}${kTrace}&q=${encodeURIComponent(name)}`,
  );
  await idle(page);
  const search = page.getByRole("searchbox", { name: /^Find a slice/ });
  await search.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name }).first().waitFor();
  await idle(page);
}

test("two people see each other", async () => {
  const server = await serve_notes();
  try {
    const ann = await person(server);
    const bob = await person(server);
    await panel_button(bob.page).click();
    await add(ann.page, /whole run/, "Why is step 2 **slow**?", "Ann");
    // Without a reload, on the other's page.
    const seen = panel(bob.page).getByRole("article");
    await seen.getByText("slow").waitFor();
    assert.equal(await seen.locator("strong").innerText(), "slow");
    await seen.getByRole("button", { name: "Reply" }).click();
    await seen
      .getByRole("textbox", { name: "Reply" })
      .fill("The loader waits.");
    await seen.getByRole("textbox", { name: "Your name" }).fill("Bob");
    await seen.getByRole("button", { name: "Reply" }).click();
    await panel(ann.page).getByText("The loader waits.").waitFor();
    // Only her own note can be changed by her; what stood there is kept.
    assert.equal(
      await panel(ann.page).getByRole("button", { name: "Edit" }).count(),
      1,
    );
    await panel(ann.page).getByRole("button", { name: "Edit" }).click();
    await panel(ann.page)
      .getByRole("textbox", { name: "The note's text" })
      .fill("Why is step 2 odd?");
    await panel(ann.page).getByRole("button", { name: "Save" }).click();
    await panel(bob.page).getByText("Why is step 2 odd?").waitFor();
    await panel(bob.page).getByRole("button", { name: "edited" }).click();
    await panel(bob.page)
      .getByRole("list", { name: "Earlier texts" })
      .getByText("slow")
      .waitFor();
    await panel(bob.page).getByRole("button", { name: "Resolve" }).click();
    await panel(ann.page)
      .getByRole("button", { name: "Show 1 resolved note" })
      .waitFor();
    for (const one of [ann, bob]) {
      one.check();
      await one.close();
    }
  } finally {
    await server.close();
  }
});

test("a note on an event, a range and a row leads back to it, and is found in a newer profile", async () => {
  const server = await serve_notes();
  try {
    const { page, check, close } = await person(server);
    await select(page, "aten::linear");
    await page.getByRole("button", { name: "Add note" }).first().click();
    await write(page, "this one", "Ann");
    await page.goto(`${server.url}${kTrace}&area=1ms..2ms`);
    await idle(page);
    await page.getByRole("button", { name: "Add note" }).first().click();
    await write(page, "this part");
    await page.goto(
      `${server.url}#v=1&run=run&worker=node_0&span=1&view=operators&filter=aten::add_`,
    );
    await idle(page);
    await page
      .getByRole("button", { name: /aten::add_/ })
      .or(page.getByRole("row", { name: /aten::add_/ }))
      .first()
      .click();
    await page.getByRole("button", { name: "Add note" }).first().click();
    await write(page, "this row");
    assert.equal(await panel(page).getByRole("article").count(), 3);

    await panel(page).getByRole("link", { name: "aten::linear" }).click();
    await idle(page);
    await page.getByRole("heading", { name: "aten::linear" }).first().waitFor();
    assert.match(page.url(), /[#&]sel=\d/);

    // The same worker's second profile: the event is found again, a time of day is not.
    await page.goto(
      `${server.url}#v=1&run=run&worker=node_0&span=2&view=overview`,
    );
    await idle(page);
    const about = (name) => panel(page).getByRole("article", { name });
    await about(/aten::linear/).waitFor();
    await page.waitForFunction(
      () => document.querySelectorAll("aside article").length === 3,
    );
    await screenshot(page, "notes-panel-other-profile");
    check();
    await close();
  } finally {
    await server.close();
  }
});

test("what people write is text", async () => {
  const server = await serve_notes();
  try {
    const { page, check, close } = await person(server);
    await add(page, /whole run/, kHostile, "<b onmouseover=alert(1)>Eve</b>");
    const note = panel(page).getByRole("article");
    await note.locator("strong").waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(
      await page
        .locator("article img, article b b, article [href^=javascript]")
        .count(),
      0,
    );
    await page.goto(`${server.url}#v=1&view=notes&kind=all`);
    await idle(page);
    await page.getByRole("main").getByText("bold").waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    check();
    await close();
  } finally {
    await server.close();
  }
});

test("a token is asked for; one that may only read cannot write", async () => {
  const tokens = join(folder, "tokens");
  writeFileSync(tokens, "write 0123456789abcdef\nread fedcba9876543210\n", {
    mode: 0o600,
  });
  const server = await serve_notes("--token-file", tokens);
  try {
    const { page, expect, check, close } = await watched(browser, server.url, {
      width: 900,
    });
    expect(/console: Failed to load resource/);
    await page.goto(server.url + kTrace);
    await page.getByLabel("Token").waitFor();
    await screenshot(page, "notes-token");
    await accessible(page, "token");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Token").fill("fedcba9876543210");
    await page.getByRole("button", { name: "Open" }).click();
    await panel_button(page).waitFor();
    await panel_button(page).click();
    await panel(page).getByText("Your token lets you read").waitFor();
    assert.equal(
      await page.getByRole("button", { name: "Add note" }).count(),
      0,
    );
    // What scripts can see holds no token.
    assert.equal(
      await page.evaluate(
        () => document.cookie + location.href.includes("fedcba"),
      ),
      "false",
    );
    check();
    await close();
  } finally {
    await server.close();
  }
});

describe("to be looked at", () => {
  for (const scheme of ["light", "dark"]) {
    test(scheme, async () => {
      const server = await serve_notes();
      try {
        const { page, check, close } = await person(server, { scheme });
        await select(page, "aten::linear");
        await page.getByRole("button", { name: "Add note" }).first().click();
        await write(
          page,
          "The **loader** starves the GPU here:\n\n- 95 µs of `next()`\n- then nothing",
          "Ann Marie",
        );
        await add(
          page,
          /whole run/,
          "Baseline before the change of the batch size.",
        );
        for (const width of [900, 1600]) {
          await page.setViewportSize({ width, height: 1000 });
          for (const [name, at] of [
            ["trace", `${kTrace}&sel=3`],
            ["overview", "#v=1&run=run&worker=node_0&span=2&view=overview"],
            ["view", "#v=1&run=run&worker=node_0&span=1&view=notes"],
          ]) {
            await page.goto(server.url + at);
            await idle(page);
            if (name !== "view" && !(await panel(page).isVisible()))
              await panel_button(page).click();
            if (name === "view" && (await panel(page).isVisible()))
              await page.keyboard.press("Escape");
            if (name !== "view")
              await panel(page).getByText("loader").waitFor();
            await screenshot(page, `notes-${name}-${scheme}-${width}`);
            await fits(page, name);
            await accessible(page, `${name} ${scheme} ${width}`);
          }
        }
        check();
        await close();
      } finally {
        await server.close();
      }
    });
  }
});
