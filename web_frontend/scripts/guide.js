// The guide as a page of the build: docs/guide.md becomes guide.html, with its pictures and a style of the page's
// tokens. A link `guide.html#data-loading` then works offline and below any prefix; nothing of it is loaded before.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const kGuide = here('../../docs/guide.md');
const kPictures = here('../../docs/pictures/');
const kTokens = here('../src/app/tokens.css');
const kIcon = here('../src/app/icon.svg');
const kStyle = here('guide.css');

/** Anchor of a heading, as code hosts make it. @param {string} text */
export const anchor = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** @param {string} text */
const plain = (text) => text.replace(/[`*_]/g, '');

/** The body, of Markdown that we wrote ourselves. @param {string} markdown */
export function render(markdown) {
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchor(plain(text));
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      image: ({ href, text }) =>
        `<img src="${href.replace(/^pictures\//, 'guide/')}" alt="${text}" loading="lazy">`,
    },
    // A wide table scrolls by itself, not the page.
    hooks: {
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="table"><table>').replaceAll('</table>', '</table></div>'),
    },
  });
  return String(marked.parse(markdown));
}

/** The page sets its theme by a script; here, without one, the system's counts. */
const style = () =>
  readFileSync(kTokens, 'utf8').replace(
    /:root\[data-theme='dark'\] (\{[^}]*\})/,
    '@media (prefers-color-scheme: dark) { :root $1 }',
  ) + readFileSync(kStyle, 'utf8');

const pictures = () =>
  existsSync(kPictures) ? readdirSync(kPictures).filter((name) => name.endsWith('.png')) : [];

/** @param {string} body */
const page = (body) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Guide - Traceglass</title>
    <link rel="icon" type="image/svg+xml" href="guide/icon.svg" />
    <link rel="stylesheet" href="guide.css" />
  </head>
  <body>
    <main>
${body}
    </main>
  </body>
</html>
`;

/** @returns {import('vite').Plugin} */
export const guide = () => ({
  name: 'guide',
  apply: 'build',
  generateBundle() {
    const markdown = readFileSync(kGuide, 'utf8');
    this.emitFile({ type: 'asset', fileName: 'guide.html', source: page(render(markdown)) });
    this.emitFile({ type: 'asset', fileName: 'guide.css', source: style() });
    this.emitFile({ type: 'asset', fileName: 'guide/icon.svg', source: readFileSync(kIcon) });
    for (const name of pictures()) {
      this.emitFile({ type: 'asset', fileName: `guide/${name}`, source: readFileSync(kPictures + name) });
    }
  },
});
