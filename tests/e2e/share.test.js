// What leaves the page: pictures that stand alone, tables as CSV, and links: any state is in the
// address and is the same after a reload, alone and in TensorBoard.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { idle, launch, watched } from "./lib/browser.js";
import { logdirs } from "./lib/logdirs.js";
import { screens } from "./lib/paths.js";
import { serve, tensorboard } from "./lib/servers.js";

const dirs = logdirs();
let browser;
let server;
before(async () => {
  browser = await launch();
  server = await serve(dirs.made);
  mkdirSync(screens, { recursive: true });
});
after(async () => {
  await server?.close();
  await browser?.close();
  dirs.remove();
});

const kTrace = "v=1&run=run&worker=node_0&span=1";

async function file_of(page, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    button.click(),
  ]);
  const path = join(screens, `saved-${download.suggestedFilename()}`);
  await download.saveAs(path);
  return {
    name: download.suggestedFilename(),
    path,
    bytes: readFileSync(path),
  };
}

/** What a picture says and shows, in a document of its own without any style of ours. */
async function alone(svg) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const asked = [];
  page.on(
    "request",
    (request) => request.url().startsWith("data:") || asked.push(request.url()),
  );
  await page.setContent("<!doctype html><body></body>");
  const seen = await page.evaluate(async (text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4)
      colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return {
      root: parsed.documentElement.tagName,
      scripts: parsed.querySelectorAll(
        "script, foreignObject, [onerror], [onload]",
      ).length,
      text: parsed.documentElement.textContent,
      width: image.naturalWidth,
      colours: colours.size,
    };
  }, svg);
  assert.deepEqual(asked, []);
  await context.close();
  return seen;
}

describe("pictures", () => {
  const charts = [
    ["overview", "Overview", /A step takes/],
    ["memory", "Memory over time", /Allocated over time/],
    ["modules", "Modules", /Linear/],
    ["roofline", "Roofline", /./],
    ["trace", "Trace", /python 100/],
    ["metrics", "train/loss", /train\/loss/],
    ["compare", "Every step", /Every step/],
    ["distributed", "Step by rank", /Step by rank/],
  ];
  for (const scheme of ["light", "dark"]) {
    test(scheme, async () => {
      const view = await watched(browser, server.url, { scheme, width: 1200 });
      const { page } = view;
      for (const [name, title, words] of charts) {
        await page.goto(`${server.url}#${kTrace}&view=${name}`);
        await idle(page);
        const menu = page.getByRole("button", {
          name: `Save a picture of ${title}`,
        });
        await menu.click();
        const svg = await file_of(
          page,
          page.getByRole("button", { name: "Save as SVG" }),
        );
        const text = svg.bytes.toString("utf8");
        assert.doesNotMatch(
          text,
          /var\(--|href="(?!data:image\/png)|url\((?!#|&quot;#|"#)/,
          name,
        );
        const seen = await alone(text);
        assert.equal(seen.root, "svg", name);
        assert.equal(seen.scripts, 0, name);
        assert.match(seen.text, words, name);
        assert.ok(seen.text.includes(title), name);
        assert.ok(seen.colours > 8, `${name}: ${seen.colours} colours`);
        await menu.click();
        const png = await file_of(
          page,
          page.getByRole("button", { name: "Save as PNG" }),
        );
        assert.equal(png.bytes.subarray(1, 4).toString(), "PNG", name);
        assert.equal(png.bytes.readUInt32BE(16), 2 * seen.width, name);
      }
      view.check();
      await view.close();
    });
  }
});

test("a picture of hostile names holds them as text", async () => {
  const view = await watched(browser, server.url, {});
  const { page } = view;
  await page.goto(`${server.url}#${kTrace}&view=overview`);
  await idle(page);
  await page
    .getByRole("button", { name: "Save a picture of Overview" })
    .click();
  const svg = await file_of(
    page,
    page.getByRole("button", { name: "Save as SVG" }),
  );
  const seen = await alone(svg.bytes.toString("utf8"));
  assert.match(seen.text, /<img src=x/);
  assert.equal(seen.scripts, 0);
  view.check();
  await view.close();
});

test("every table is to be had as CSV", async () => {
  const view = await watched(browser, server.url, {});
  const { page } = view;
  for (const name of [
    "operators",
    "kernels",
    "modules",
    "roofline",
    "memory",
    "compare",
    "distributed",
    "metrics",
  ]) {
    await page.goto(`${server.url}#${kTrace}&view=${name}`);
    await idle(page);
    const csv = await file_of(
      page,
      page.getByRole("button", { name: "CSV" }).first(),
    );
    const lines = csv.bytes.toString("utf8").trim().split(/\r?\n/);
    assert.ok(lines.length > 1, `${name}: ${lines.length} lines`);
    assert.match(lines[0], /,/, name);
  }
  view.check();
  await view.close();
});

/** A state of each view with all that can be chosen in it, and what of it is to be seen. */
const kStates = {
  overview: "steps=1",
  operators: "filter=aten&sort=-calls&group=shape&bars=host&steps=0-1",
  "operators, a row": "view=operators&open=aten%3A%3Amm&sort=-host_self",
  annotations: "view=operators&kind=annotation",
  kernels: "filter=a&sort=name&group=launch&cols=calls,total",
  copies: "view=kernels&kind=copies",
  memory: "device=cuda:0&group=block&t=1ms..2ms&sort=-bytes",
  modules: "bars=host&root=0",
  roofline: "kind=kernel&filter=cut",
  trace: "t=1ms..2ms&sel=3&q=aten&path=1",
  "trace as a table": "view=trace&table=1&t=1ms..2ms",
  "trace, an area": "view=trace&area=1.1ms..1.5ms",
  "trace, a verdict": "view=trace&verdict=synchronization",
  compare: "vs_steps=0&steps=1-2&filter=a",
  distributed: "bars=step&kind=ranks",
  metrics: "tags=train/loss&axis=relative&smooth=0.6&log=1",
  "metrics, by number": "view=metrics&shift=0&zoom=1..3&table=1",
};

/** All text on show, what is chosen and opened, and how tables are scrolled. */
const shown = (frame) =>
  frame.evaluate(() => ({
    hash: location.hash,
    text: document.querySelector("main").innerText,
    chosen: [
      ...document.querySelectorAll(
        "[aria-pressed=true],[aria-current],[aria-checked=true],[aria-expanded=true]",
      ),
    ].map((one) => one.textContent.trim()),
    fields: [...document.querySelectorAll("main input")].map((one) =>
      one.type === "checkbox" ? one.checked : one.value,
    ),
  }));

describe("any state is a link", () => {
  for (const [name, state] of Object.entries(kStates)) {
    test(name, async () => {
      const hash = `${kTrace}&${state.includes("view=") ? state : `view=${name}&${state}`}`;
      const view = await watched(browser, server.url, { width: 1280 });
      await view.page.goto(`${server.url}#${hash}`);
      await idle(view.page);
      const asked = new URLSearchParams(hash);
      const kept = new URLSearchParams(new URL(view.page.url()).hash.slice(1));
      for (const [key, value] of asked) assert.equal(kept.get(key), value, key);
      const before = await shown(view.page);
      await view.page.reload();
      await idle(view.page);
      assert.deepEqual(await shown(view.page), before);
      view.check();
      await view.close();
    });
  }

  test("in TensorBoard", async () => {
    const board = await tensorboard(process.env.TRACEGLASS_E2E_VENV, dirs.made);
    try {
      for (const [name, state] of Object.entries(kStates)) {
        const hash = `${kTrace}&${state.includes("view=") ? state : `view=${name}&${state}`}`;
        const ours = [...new URLSearchParams(hash)].map(
          ([k, v]) => `p.traceglass.${k}=${encodeURIComponent(v)}`,
        );
        const view = await watched(browser, board.url, { width: 1280 });
        const seen = [];
        for (const again of [false, true]) {
          if (again) await view.page.reload();
          else
            await view.page.goto(`${board.url}#traceglass&${ours.join("&")}`);
          const frame = await view.page
            .waitForSelector("iframe")
            .then((element) => element.contentFrame());
          await frame.waitForURL(/\/data\/plugin\/traceglass\/index\.html/);
          await idle(frame);
          seen.push(await shown(frame));
        }
        assert.deepEqual(seen[1], seen[0], name);
        assert.deepEqual(
          [...new URLSearchParams(seen[0].hash.slice(1))].sort(),
          [...new URLSearchParams(hash.replace('&view=overview', ''))].sort(), // a default is not written
          name,
        );
        await view.close();
      }
    } finally {
      await board.close();
    }
  });
});
