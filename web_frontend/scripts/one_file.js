// A build of one script and one style sheet as one HTML file that asks nobody for anything: its policy allows its own
// script, by its hash, and no request. Three places in it are for the program that fills it: title, text and parts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const kIcon = fileURLToPath(new URL('../src/app/icon.svg', import.meta.url));

/** Ends no script element, and opens no comment in one. @param {string} code */
export const in_script = (code) => code.replace(/<(?=\/script|!--)/gi, '\\x3c');

/** @param {string} script @param {string} style */
export function page(script, style) {
  if (/<\/style/i.test(style)) throw new Error('a style sheet that ends its element');
  const code = in_script(script);
  const hash = createHash('sha256').update(code).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const icon = readFileSync(kIcon).toString('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title><!--report:title--></title>
<link rel="icon" type="image/svg+xml" href="data:image/svg+xml;base64,${icon}">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript><pre><!--report:text--></pre></noscript>
<!--report:parts-->
<script type="module">${code}</script>
</body>
</html>
`;
}

/** @param {string} name @returns {import('vite').Plugin} */
export const one_file = (name) => ({
  name: 'one-file',
  apply: 'build',
  enforce: 'post',
  generateBundle: {
    // After Vite has put in what its own placeholders stand for.
    order: 'post',
    handler(_, bundle) {
      let script = '';
      let style = '';
      for (const [file, made] of Object.entries(bundle)) {
        if (made.type === 'chunk') script += made.code;
        else if (file.endsWith('.css')) style += String(made.source);
        else throw new Error(`${file}: a file beside the page`);
        delete bundle[file];
      }
      this.emitFile({ type: 'asset', fileName: name, source: page(script, style) });
    },
  },
});
